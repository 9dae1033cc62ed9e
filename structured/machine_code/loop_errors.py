"""What loops raise when they cannot go on."""


class LimitError(Exception):
    """A machine would need more than its limits allow; the message says what, as in `more than 1,000 states`."""


class StateNeeded(Exception):  # noqa: N818  no error: the state is made, and the loop is called again
    """A loop needs a state, or its row: the one in the argument or, without argument, that of the machine's request."""
