"""What decides of bounds along a run, each with its reason."""

# ---- bounds -------------------------------------------------------------------------------------
ROUNDING = 1e-10  # relative: by so much gradients computed in two ways may differ
EPOCHS = 100  # of a run, about: as many points as a curve on a screen shows
FEW = 10  # kept epochs: no curve to speak of
