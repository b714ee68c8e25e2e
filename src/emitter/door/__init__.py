"""What the doors share: settings, the plan of an emission, the session that sends, and what comes back."""
