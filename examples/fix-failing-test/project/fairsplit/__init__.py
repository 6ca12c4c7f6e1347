"""Split amounts of money so that the parts add up."""

from fairsplit.split import format_cents, split_evenly, split_by_weight

__all__ = ["format_cents", "split_evenly", "split_by_weight"]
