"""What studies found, as files: the page, the claims as JSON, and each figure with its data.

The same runs give the same bytes: nothing says when, where or by whom they were made.
"""

from pathlib import Path

from dynascope.new_file import clear_unfinished, write_new_file
from dynascope.store.files import writing
from dynascope.studies.report_figures import drawn_figures
from dynascope.studies.report_page import report_page
from dynascope.studies.results import StudyResults
from dynascope.studies.study_folder import CLAIMS, DATA, FIGURES, REPORT


def write_report(results: StudyResults) -> None:
    """The report last: where it is, all else is. No other process writes there meanwhile."""
    figures = drawn_figures(results)
    folder = results.folder
    for place in (folder, folder / DATA, folder / FIGURES):
        with writing(place):
            place.mkdir(parents=True, exist_ok=True)
        clear_unfinished(place)
    for each in figures:
        _write(folder / DATA / f"{each.name}.csv", each.data)
        _write(folder / FIGURES / f"{each.name}.svg", each.file)
    _write(folder / CLAIMS, results.to_json())
    _write(folder / REPORT, report_page(results, figures))


def _write(path: Path, text: str) -> None:
    write_new_file(path, text.encode())
