"""Whole figures, each in one call; `plots.figure` has them by name."""

from dynascope.plots._layout_attention import attention as attention
from dynascope.plots._layout_circuits import circuits as circuits
from dynascope.plots._layout_gradients import gradients as gradients
from dynascope.plots._layout_landscape import landscape as landscape
from dynascope.plots._layout_panels import panels as panels
from dynascope.plots._layout_phases import phases as phases
from dynascope.plots._layout_spike import spike as spike
