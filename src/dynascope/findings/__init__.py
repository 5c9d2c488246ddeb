"""Analyses as everything asks for them: made of a run or of many, kept, told in rows, words, JSON.

`kind.Kind` is what each of them offers and `registry.kinds` lists them; `making` makes them,
`keeping` keeps them beside stored runs.
"""
