"""The calls that people make, and the objects behind them."""
