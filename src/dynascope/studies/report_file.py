"""The page that tells what studies found, and the claims as JSON."""

from dynascope.new_file import write_new_file
from dynascope.studies.results import StudyResults


def write_report(results: StudyResults) -> None:
    write_new_file(results.folder / "claims.json", results.to_json().encode())
