"""How runs, weights and analyses show themselves in a notebook: cards of HTML and small SVGs.

`show.html_of` is the way in. Nothing here needs Jupyter; it asks for the HTML.
"""
