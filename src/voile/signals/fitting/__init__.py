"""The fit of maps, and the audit of fitted ones. No other verb imports this package."""
