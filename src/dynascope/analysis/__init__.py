"""What happened in a run: circuit, phases, spikes, and smaller measures.

Everything here is a pure function of parameters or of a run, and returns a typed result. SciPy and
ruptures are imported when a function first needs them: they take a while to load.
"""

from dynascope.analysis.assemblers import Assemblers as Assemblers
from dynascope.analysis.assemblers import assemblers as assemblers
from dynascope.analysis.attention import attention_map as attention_map
from dynascope.analysis.attention import attention_similarity as attention_similarity
from dynascope.analysis.attention_change import AttentionChange as AttentionChange
from dynascope.analysis.attention_change import attention as attention
from dynascope.analysis.circuit import Circuit as Circuit
from dynascope.analysis.circuit import circuit as circuit
from dynascope.analysis.circuit import circuits as circuits
from dynascope.analysis.drops import loss_drops as loss_drops
from dynascope.analysis.geometry import embedding_distance as embedding_distance
from dynascope.analysis.geometry import travelled as travelled
from dynascope.analysis.kept_sum import KeptSum as KeptSum
from dynascope.analysis.kept_sum import kept_sum as kept_sum
from dynascope.analysis.phases import Phases as Phases
from dynascope.analysis.phases import phases as phases
from dynascope.analysis.shares import Shares as Shares
from dynascope.analysis.sparsity import sparsity as sparsity
from dynascope.analysis.speed import Speed as Speed
from dynascope.analysis.speed import speed as speed
from dynascope.analysis.spike_null import null_causes as null_causes
from dynascope.analysis.spikes import Spikes as Spikes
from dynascope.analysis.spikes import spikes as spikes
from dynascope.analysis.step_over_length import StepOverLength as StepOverLength
from dynascope.analysis.step_over_length import step_over_length as step_over_length
from dynascope.analysis.story import Story as Story
from dynascope.analysis.story import story as story
from dynascope.analysis.sum_progress import SumProgress as SumProgress
from dynascope.analysis.sum_progress import sum_progress as sum_progress
from dynascope.analysis.tandem import GradientTandem as GradientTandem
from dynascope.analysis.tandem import tandem as tandem
from dynascope.analysis.verdict import VERDICTS as VERDICTS
from dynascope.analysis.verdict import Verdict as Verdict
