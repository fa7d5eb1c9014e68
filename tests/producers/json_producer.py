"""Sends the status events on stdin (one JSON object per line) as an upstream system would that
uses Confluent's client and the schema that is registered for the topic."""

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
producer = Producer({"bootstrap.servers": brokers, "enable.idempotence": True})

for line in sys.stdin:
    event = json.loads(line)
    value = serialize(event, SerializationContext(topic, MessageField.VALUE))
    producer.produce(topic, key=event["shipmentId"], value=value)
sys.exit(producer.flush(30))
