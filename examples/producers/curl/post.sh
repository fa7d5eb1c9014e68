#!/bin/sh
# Posts the status event on standard input, or the JSON array of up to 500 of them, and prints the answer.
#
# WAYBILL_URL      where the API is
# WAYBILL_API_KEY  the secret of a key of role ingest
#
# Ends with 0 once Kafka has what was taken. Whatever else happened, running it again with the same input is safe: the
# same content under the same shipment and version is taken once.
set -eu

# --retry covers what is worth a retry: no answer in time, 408, 429, 5xx; Retry-After is honoured.
curl --silent --show-error --fail-with-body \
  --max-time 30 --retry 8 --retry-connrefused --retry-max-time 300 \
  --header "Authorization: Bearer $WAYBILL_API_KEY" \
  --header 'Content-Type: application/json' \
  --data-binary @- \
  "$WAYBILL_URL/v1/status-events"
