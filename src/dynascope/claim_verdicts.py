"""What can become of a claim, in the words that reports, tables and figures use."""

HOLDS = "holds"
IN_PART = "holds in part"
FAILS = "does not hold"
OPEN = "not decidable here"
VERDICTS = (HOLDS, IN_PART, FAILS, OPEN)
