"""The layouts of figures: their names and what each shows. What draws them is in `plots`, which
`dynascope --help` need not wait for."""

LAYOUTS = {
    "panels": "any panels of runs at epochs, in rows",
    "phases": "four snapshots of learning, and the loss",
    "spike": "before and after a spike of the loss",
    "circuits": "one run for each verdict on its circuit",
    "attention": "attention at the start and at the end",
    "gradients": "gradient norms, with drops and spikes of the loss",
    "landscape": "the loss on a plane around the weights",
}
