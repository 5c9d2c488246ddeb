"""Analyses as everything asks for them: made of a run or of many, kept, told in rows, words, JSON.

`kind.Kind` is what each of them offers; `registry.kinds` lists them, `make_analyses` makes them and
`keep_analyses` keeps them beside stored runs.
"""
