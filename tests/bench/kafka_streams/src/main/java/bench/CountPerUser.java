package bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.processor.api.FixedKeyProcessor;
import org.apache.kafka.streams.processor.api.FixedKeyProcessorContext;
import org.apache.kafka.streams.processor.api.FixedKeyRecord;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

/**
 * The contestant: read a JSON event, count the events of its user in a RocksDB store, write the event with the count as JSON.
 *
 * Arguments: source topic, sink topic, a properties file that holds every setting of the Streams client.
 */
public final class CountPerUser {
    private static final String STORE = "events-per-user";

    private CountPerUser() { }

    public static void main(String[] arguments) throws IOException {
        String source = arguments[0];
        String sink = arguments[1];
        Properties settings = new Properties();
        try (Reader reader = Files.newBufferedReader(Path.of(arguments[2]), StandardCharsets.UTF_8)) {
            settings.load(reader);
        }

        StreamsBuilder builder = new StreamsBuilder();
        builder.addStateStore(Stores.keyValueStoreBuilder(
            Stores.persistentKeyValueStore(STORE), Serdes.Bytes(), Serdes.Long()).withCachingEnabled());
        builder.stream(source, Consumed.with(Serdes.Bytes(), Serdes.ByteArray()))
            .processValues(Counter::new, STORE)
            .to(sink, Produced.with(Serdes.Bytes(), Serdes.ByteArray()));

        KafkaStreams streams = new KafkaStreams(builder.build(), settings);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> streams.close(Duration.ofSeconds(10))));
        streams.start();
    }

    private static final class Counter implements FixedKeyProcessor<Bytes, byte[], byte[]> {
        private final ObjectMapper json = new ObjectMapper();
        private FixedKeyProcessorContext<Bytes, byte[]> context;
        private KeyValueStore<Bytes, Long> counts;

        @Override
        public void init(FixedKeyProcessorContext<Bytes, byte[]> context) {
            this.context = context;
            this.counts = context.getStateStore(STORE);
        }

        @Override
        public void process(FixedKeyRecord<Bytes, byte[]> event) {
            Long before = counts.get(event.key());
            long count = before == null ? 1L : before + 1L;
            counts.put(event.key(), count);
            try {
                ObjectNode fields = (ObjectNode) json.readTree(event.value());
                fields.put("count", count);
                context.forward(event.withValue(json.writeValueAsBytes(fields)));
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
        }
    }
}
