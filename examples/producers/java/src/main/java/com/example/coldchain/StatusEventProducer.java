package com.example.coldchain;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Sends the status events on standard input, one JSON object a line, to Kafka: {@code BROKERS REGISTRY_URL}. Ends with 1
 * if Kafka did not confirm all of them.
 */
public final class StatusEventProducer {
  private static final String TOPIC = "shipment.status-events";
  private static final ObjectMapper JSON = new ObjectMapper();

  private StatusEventProducer() {}

  public static void main(String[] args) throws Exception {
    int schemaId = idOfTopicSchema(args[1]);
    AtomicInteger failed = new AtomicInteger();
    Map<String, Object> settings =
        Map.of(
            ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, args[0],
            // Waits for all in-sync replicas and does not write a message twice when it tries again.
            ProducerConfig.ACKS_CONFIG, "all",
            ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
    try (var producer = new KafkaProducer<>(settings, new StringSerializer(), new ByteArraySerializer());
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      for (String line; (line = lines.readLine()) != null; ) {
        JsonNode event = JSON.readTree(line);
        // The key keeps a shipment's events in one partition.
        String key = event.required("shipmentId").asText();
        producer.send(
            new ProducerRecord<>(TOPIC, key, framed(schemaId, JSON.writeValueAsBytes(event))),
            (sent, error) -> {
              if (error == null) return;
              failed.incrementAndGet();
              System.err.println(key + ": " + error);
            });
      }
    } // Closing waits until everything was confirmed or given up.
    System.exit(failed.get() == 0 ? 0 : 1);
  }

  /** The wire format of schema registries: a zero, the schema's id in four bytes, the value. */
  private static byte[] framed(int schemaId, byte[] value) {
    return ByteBuffer.allocate(5 + value.length).put((byte) 0).putInt(schemaId).put(value).array();
  }

  /** The id of the schema that bootstrap registered for the topic. */
  private static int idOfTopicSchema(String registry) throws IOException, InterruptedException {
    URI subject = URI.create(registry + "/subjects/" + TOPIC + "-value/versions/latest");
    HttpRequest request = HttpRequest.newBuilder(subject).timeout(Duration.ofSeconds(10)).build();
    var answer = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
    if (answer.statusCode() != 200) {
      throw new IOException(subject + " answered " + answer.statusCode() + ": " + answer.body());
    }
    return JSON.readTree(answer.body()).required("id").asInt();
  }
}
