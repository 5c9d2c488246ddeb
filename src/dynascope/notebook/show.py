"""The card of an object, by what it is. Analyses are imported only to show one."""

from dynascope.notebook.card import Card
from dynascope.parameters import Parameters
from dynascope.run import Run, Runs


def html_of(shown: object) -> str:
    """The HTML that a notebook shows."""
    return str(_card(shown).html())


def _card(shown: object) -> Card:
    if isinstance(shown, Run):
        from dynascope.notebook.run_card import run_card

        return run_card(shown)
    if isinstance(shown, Runs):
        from dynascope.notebook.runs_card import runs_card

        return runs_card(shown)
    if isinstance(shown, Parameters):
        from dynascope.notebook.parameters_card import parameters_card

        return parameters_card(shown)
    from dynascope.notebook.analysis_cards import analysis_card

    return analysis_card(shown)
