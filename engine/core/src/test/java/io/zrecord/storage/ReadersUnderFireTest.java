package io.zrecord.storage;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.read.FieldReader;
import io.zrecord.read.ReadMetrics;
import io.zrecord.read.Verification;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableChange;
import io.zrecord.table.write.ShardWriter;
import io.zrecord.testing.Budget;
import io.zrecord.testing.Cases;
import io.zrecord.testing.FaultyProxy;
import io.zrecord.testing.HttpFault;
import io.zrecord.testing.HttpRequest;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Reads a table whose object store answers wrongly, partly or not at all: each value is right, or
 * the reader gets an exception that names the object.
 */
public abstract class ReadersUnderFireTest {
  private static final int SHARDS = 2;
  private static final int RECORDS = 200;

  /** The values of the first shard are fetched whole, those of the second by ranges. */
  private static final int SMALL_BYTES = 3000;

  private static final int LARGE_BYTES = 9000;

  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("value", ElementType.BYTES)
      .field("number", ElementType.I64)
      .build();

  private static final Map<String, HttpFault> FAULTS = new TreeMap<>(Map.of(
      "body ends at once", HttpFault.bodyCut(0),
      "body ends at byte 100", HttpFault.bodyCut(100),
      "reset at byte 0", HttpFault.bodyReset(0),
      "reset at byte 100", HttpFault.bodyReset(100),
      "503", HttpFault.refused(503, "SlowDown"),
      "500", HttpFault.refused(500, "InternalError"),
      "404", HttpFault.refused(404, "NoSuchKey"),
      "first byte flipped", HttpFault.byteFlipped(0),
      "byte 5000 flipped", HttpFault.byteFlipped(5000),
      "last byte flipped", HttpFault.byteFlipped(-1)));

  private final String name = "table of " + UUID.randomUUID();
  private FaultyProxy proxy;
  private Storage healthy;

  /** Returns where a server that speaks S3 is reached. */
  protected abstract URI server();

  /** Opens a storage as {@link CommitsUnderFireTest#storage} does. */
  protected abstract Storage storage(URI endpoint, String dataset);

  @BeforeEach
  void start() throws Exception {
    proxy = FaultyProxy.before(server());
    healthy = storage(server(), name);
    write(healthy);
  }

  @AfterEach
  void stop() throws Exception {
    proxy.close();
    OpenShards.shared().clear();
  }

  private static byte[] value(long index) {
    Random random = new Random(index);
    boolean isOfFirstShard = index < RECORDS / SHARDS;
    byte[] value = new byte[random.nextInt(isOfFirstShard ? SMALL_BYTES : LARGE_BYTES)];
    random.nextBytes(value);
    return value;
  }

  private static void write(Storage storage) {
    List<ShardSummary> shards = new ArrayList<>();
    WriteOptions options = WriteOptions.defaults().withDurability(Durability.NONE);
    for (int shard = 0; shard < SHARDS; shard++) {
      try (ShardWriter writer = ShardWriter.create(storage, UUID.randomUUID(), SCHEMA, options)) {
        for (int i = 0; i < RECORDS / SHARDS; i++) {
          long index = (long) shard * (RECORDS / SHARDS) + i;
          byte[] value = value(index);
          writer.put(0, value, 0, value.length);
          writer.putLong(1, index);
          writer.endRecord();
        }
        shards.add(writer.finish().orElseThrow());
      }
    }
    RecordTable.at(storage)
        .commit(TableChange.of(TableChange.Kind.CREATE, SCHEMA).shards(shards).build());
  }

  /** How a reading ended. */
  private enum End {
    RIGHT,
    REPORTED,
    WRONG
  }

  /** Reads everything with new requests. */
  private End read(Storage storage, Verification verification, String situation) {
    OpenShards.shared().clear();
    ReadOptions options = new ReadOptions(verification, new ReadMetrics());
    try (RecordDataset dataset = RecordDataset.open(storage, options)) {
      return dataset.length() == RECORDS && isRight(dataset) ? End.RIGHT : End.WRONG;
    } catch (ZRecordException e) {
      assertThat(e.resource()).as(situation).startsWith(storage.location());
      assertThat(e).as(situation).hasMessageContaining(e.resource());
      return End.REPORTED;
    }
  }

  private static boolean isRight(RecordDataset dataset) {
    FieldReader values = dataset.reader("value");
    FieldReader numbers = dataset.reader("number");
    long[] indices = Budget.random().longs(5L * RECORDS, 0, RECORDS).toArray();
    values.select(indices, 0, indices.length);
    numbers.selectRange(0, 10, Long.MAX_VALUE);
    for (int i = 0; i < indices.length; i++) {
      if (!Arrays.equals(values.value(i), value(indices[i]))) {
        return false;
      }
    }
    for (int i = 0; i < numbers.count(); i++) {
      if (ByteBuffer.wrap(numbers.value(i)).order(ByteOrder.LITTLE_ENDIAN).getLong() != i) {
        return false;
      }
    }
    return true;
  }

  /** Returns how many requests for bytes of objects a reading has. */
  private int requestsOfAReading(Storage storage) {
    proxy.heal();
    assertThat(read(storage, Verification.FIRST, "no fault")).isEqualTo(End.RIGHT);
    return (int) proxy.requests().stream().filter(HttpRequest::readsObject).count();
  }

  /** Counts the requests that match as they arrive; starts with the one of a number. */
  private void injectFrom(int first, int times, HttpFault fault) {
    int[] seen = {0};
    proxy.inject(times, request -> request.readsObject() && seen[0]++ >= first, fault);
  }

  @Test
  void eachFaultAtEachRequestIsAnExceptionOrHarmless() {
    Storage storage = storage(proxy.endpoint(), name);
    int requests = requestsOfAReading(storage);
    Map<End, Integer> ends = new TreeMap<>();
    Random random = Budget.random();
    for (Map.Entry<String, HttpFault> fault : FAULTS.entrySet()) {
      // A storage that goes on where an answer broke off needs many requests for a file.
      for (int times : new int[] {1, 4}) {
        int[] numbers = random
            .ints(0, requests)
            .distinct()
            .limit(Math.min(requests, Budget.of(1 + requests / 3)))
            .toArray();
        for (int number : numbers) {
          proxy.heal();
          injectFrom(number, times, fault.getValue());
          String situation = fault.getKey() + " at request " + number + ", " + times;
          End end = read(storage, Verification.FIRST, situation);
          assertThat(end).as(situation).isNotEqualTo(End.WRONG);
          ends.merge(end, 1, Integer::sum);
        }
      }
    }
    System.out.println(
        getClass().getSimpleName() + ": " + requests + " requests of a reading: " + ends);
    assertThat(ends).containsKeys(End.RIGHT, End.REPORTED);
    proxy.heal();
    assertThat(read(storage, Verification.FIRST, "healed")).isEqualTo(End.RIGHT);
  }

  /** A byte that comes wrong once is no damage: it is asked for again. */
  @Test
  void aByteThatComesWrongOnceIsAskedForAgain() {
    Storage storage = storage(proxy.endpoint(), name);
    int requests = requestsOfAReading(storage);
    for (int position : new int[] {0, 5000, -1}) {
      for (long number : Cases.before(requests)) {
        proxy.heal();
        injectFrom((int) number, 1, HttpFault.byteFlipped(position));
        String situation = "byte " + position + " of request " + number;
        assertThat(read(storage, Verification.FIRST, situation)).as(situation).isEqualTo(End.RIGHT);
      }
    }
  }

  @Test
  void anObjectThatIsDeletedOrReplacedWhileItIsReadIsAnExceptionOrHarmless() {
    int requests = requestsOfAReading(storage(proxy.endpoint(), name));
    Random random = Budget.random();
    for (long number : Cases.before(requests)) {
      List<Boolean> each = new ArrayList<>(List.of(false, true));
      Collections.shuffle(each, random);
      for (boolean isReplaced : each.subList(0, Math.min(each.size(), Budget.of(each.size())))) {
        String copy = "table of " + UUID.randomUUID();
        Storage direct = storage(server(), copy);
        write(direct);
        proxy.heal();
        injectFrom((int) number, 1, exchange -> {
          spoil(direct, exchange.request(), isReplaced);
          exchange.send(exchange.forward());
        });
        String situation = (isReplaced ? "replaced" : "deleted") + " at request " + number;
        assertThat(read(storage(proxy.endpoint(), copy), Verification.FIRST, situation))
            .as(situation)
            .isNotEqualTo(End.WRONG);
      }
    }
  }

  private static void spoil(Storage direct, HttpRequest request, boolean isReplaced) {
    String target = URLDecoder.decode(request.target(), StandardCharsets.UTF_8);
    String root = direct.location().substring(direct.location().lastIndexOf('/'));
    String file = target.substring(target.indexOf(root) + root.length() + 1);
    if (!direct.exists(file)) {
      // The reader asks whether there is a newer version.
      return;
    }
    if (isReplaced) {
      byte[] other = new byte[(int) direct.lengthBytes(file)];
      Budget.random().nextBytes(other);
      direct.replace(file, other);
    } else {
      direct.delete(file);
    }
  }

  @Test
  void randomFaultsAreExceptionsOrHarmless() {
    Storage storage = storage(proxy.endpoint(), name);
    for (int fire = 0; fire < Budget.of(10); fire++) {
      proxy.heal();
      proxy.injectAtRandom(Budget.seed() + fire, 0.2, new ArrayList<>(FAULTS.values()));
      assertThat(read(storage, Verification.FIRST, "fire " + fire)).isNotEqualTo(End.WRONG);
    }
  }

  /** The control: without verification, flipped bytes are read. */
  @Test
  void withoutVerificationAFlippedByteIsRead() {
    Storage storage = storage(proxy.endpoint(), name);
    int requests = requestsOfAReading(storage);
    List<End> ends = new ArrayList<>();
    for (int number = 0;
        number < requests && Collections.frequency(ends, End.WRONG) < 2;
        number++) {
      proxy.heal();
      injectFrom(number, 1, HttpFault.byteFlipped(5000));
      ends.add(read(storage, Verification.NEVER, "not verified"));
    }
    assertThat(Collections.frequency(ends, End.WRONG)).as("%s", ends).isGreaterThanOrEqualTo(2);
  }
}
