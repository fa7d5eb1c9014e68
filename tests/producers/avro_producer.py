"""Sends the status events on stdin (one JSON object per line) as an upstream system would that
uses Confluent's client and its own Avro record. The record has a subject of its own, because the
topic's subject holds the JSON schema."""

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
          {"name": "stops", "type": {"type": "array", "items": "string"}}
        ]
      }
    }
  ]
}
"""

brokers, registry, topic = sys.argv[1:4]

client = SchemaRegistryClient({"url": registry, "timeout": 5})
serialize = AvroSerializer(client, SCHEMA, conf={"subject.name.strategy": record_subject_name_strategy})
producer = Producer({"bootstrap.servers": brokers, "enable.idempotence": True})

for line in sys.stdin:
    event = json.loads(line)
    value = serialize(event, SerializationContext(topic, MessageField.VALUE))
    producer.produce(topic, key=event["shipmentId"], value=value)
sys.exit(producer.flush(30))
