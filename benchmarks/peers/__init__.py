"""The same model and training loop in other hands, each as fast as we could reasonably make it."""
