"""What loops are written with: a notation of Python that the build translates to C."""
