"""What theory says: closed forms, bounds, the exact curvature, saddles, heads that are built."""

from dynascope.theory.approach import Approach as Approach
from dynascope.theory.approach import approach as approach
from dynascope.theory.bounds import Bound as Bound
from dynascope.theory.bounds import BoundCurves as BoundCurves
from dynascope.theory.bounds import Bounds as Bounds
from dynascope.theory.bounds import bounds as bounds
from dynascope.theory.bounds import bounds_along as bounds_along
from dynascope.theory.closed_form import Stationarity as Stationarity
from dynascope.theory.closed_form import class_gradients as class_gradients
from dynascope.theory.closed_form import gradients as gradients
from dynascope.theory.closed_form import stationarity as stationarity
from dynascope.theory.curvature import Curvature as Curvature
from dynascope.theory.curvature import curvature as curvature
from dynascope.theory.ideal import Head as Head
from dynascope.theory.ideal import ideal_head as ideal_head
from dynascope.theory.landscape import Landscape as Landscape
from dynascope.theory.landscape import landscape as landscape
from dynascope.theory.landscape import landscape_around as landscape_around
from dynascope.theory.saddles import Plateau as Plateau
from dynascope.theory.saddles import saddles as saddles
from dynascope.theory.spectrum import Spectrum as Spectrum
from dynascope.theory.spectrum import spectrum as spectrum
from dynascope.theory.symmetry import flat_directions as flat_directions
