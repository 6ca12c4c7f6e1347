"""Passes requests on, as fast as the service behind it wants them."""

from bucket import Bucket


class TooManyRequests(Exception):
    """The caller has to come back later."""


class Gateway:
    """A service behind a bucket."""

    def __init__(self, service, bucket=None):
        self._service = service
        self._bucket = bucket or Bucket(rate=5, capacity=10)

    def handle(self, request):
        """What the service says. Raises: TooManyRequests."""
        if not self._bucket.take():
            raise TooManyRequests
        return self._service(request)
