"""Sends the status events on stdin (one JSON object per line) with Confluent's client and an Avro
record of one's own. The record has a subject of its own, because the topic's subject holds the JSON
schema. Ends with 1 if Kafka did not confirm all of them."""

import json
import sys

from confluent_kafka import Producer
from confluent_kafka.schema_registry import SchemaRegistryClient, record_subject_name_strategy
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

SCHEMA = """
{
  "type": "record",
  "name": "ShipmentStatusChanged",
  "namespace": "com.example.coldchain",
  "fields": [
    {"name": "shipmentId", "type": "string"},
    {"name": "eventVersion", "type": "long"},
    {"name": "status", "type": "string"},
    {"name": "occurredAt", "type": "string"},
    {"name": "attributes", "type": {"type": "map", "values": "string"}, "default": {}},
    {"name": "eventId", "type": ["null", "string"], "default": null},
    {
      "name": "data",
      "type": {
        "type": "record",
        "name": "Readings",
        "fields": [
          {"name": "celsius", "type": "double"},
          {"name": "sensor", "type": ["null", "string"], "default": null},
          {"name": "humidity", "type": ["null", "double"], "default": null},
          {"name": "stops", "type": {"type": "array", "items": "string"}, "default": []}
        ]
      }
    }
  ]
}
"""

brokers, registry, topic = sys.argv[1:4]

client = SchemaRegistryClient({"url": registry, "timeout": 5})
serialize = AvroSerializer(client, SCHEMA, conf={"subject.name.strategy": record_subject_name_strategy})
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
