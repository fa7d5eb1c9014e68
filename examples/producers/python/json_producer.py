"""Sends the status events on stdin (one JSON object per line) with Confluent's client and the
schema that is registered for the topic. Ends with 1 if Kafka did not confirm all of them."""

import json
import sys

from confluent_kafka import Producer
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.json_schema import JSONSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

brokers, registry, topic = sys.argv[1:4]

client = SchemaRegistryClient({"url": registry, "timeout": 5})
serialize = JSONSerializer(
    None, client, conf={"use.latest.version": True, "auto.register.schemas": False}
)
# Waits for all in-sync replicas and does not write a message twice when it tries again.
producer = Producer({"bootstrap.servers": brokers, "enable.idempotence": True, "acks": "all"})
failed = 0


def report(error, message):
    global failed
    if error is not None:
        failed += 1
        print(f"{message.key().decode()}: {error}", file=sys.stderr)


for line in sys.stdin:
    event = json.loads(line)
    value = serialize(event, SerializationContext(topic, MessageField.VALUE))
    # The key keeps a shipment's events in one partition.
    producer.produce(topic, key=event["shipmentId"], value=value, on_delivery=report)
    producer.poll(0)
left = producer.flush(30)
sys.exit(1 if failed or left else 0)
