package io.zrecord.warehouse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordDatasetWriter;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.UnsupportedFormatException;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.DropOptions;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableChange;
import io.zrecord.testing.ForwardingStorage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A warehouse is what its directories have, whoever wrote them. */
final class WarehouseTest {
  private static final RecordSchema SCHEMA =
      RecordSchema.builder().field("value", ElementType.I64).build();
  private static final Namespace VISION = Namespace.of("vision");

  @TempDir
  Path directory;

  private Warehouse lake;

  @BeforeEach
  void open() {
    lake = Warehouse.at(directory.resolve("lake").toString());
  }

  private TableChange creation() {
    return TableChange.of(TableChange.Kind.CREATE, SCHEMA).build();
  }

  private UUID createTable(Namespace namespace, String name) {
    return RecordTable.at(lake.place(namespace, name)).commit(creation()).commitId();
  }

  private Path path(String path) {
    return directory.resolve("lake").resolve(path);
  }

  @Test
  void whatIsNotThereYetIsEmpty() {
    assertThat(lake.tables(Namespace.ROOT)).isEmpty();
    assertThat(lake.namespaces(Namespace.ROOT)).isEmpty();
    assertThat(lake.find(Namespace.ROOT)).contains(Collections.emptySortedMap());
    assertThat(lake.exists(VISION)).isFalse();
    assertThat(lake.tables(VISION)).isEmpty();
    assertThat(lake.drop(VISION)).isEqualTo(Warehouse.Drop.MISSING);
    assertThat(lake.alter(VISION, Map.of("a", "b"))).isFalse();
    assertThat(Files.exists(path(""))).isFalse();
  }

  @Test
  void tablesAreListedByNameWhoeverWroteThem() throws IOException {
    createTable(Namespace.ROOT, "b");
    createTable(Namespace.ROOT, "Ä photo's table");
    createTable(VISION, "a");
    RecordDatasetWriter.create(path("by a path").toString(), SCHEMA, WriteOptions.defaults())
        .commit();
    Files.createDirectories(path("empty/manifest"));
    Files.createDirectories(path("_temporary/manifest"));
    Files.writeString(path("file"), "no table");
    assertThat(lake.tables(Namespace.ROOT)).containsExactly("b", "by a path", "Ä photo's table");
    assertThat(lake.tables(VISION)).containsExactly("a");
    assertThat(lake.hasTable(VISION, "a")).isTrue();
    assertThat(lake.hasTable(VISION, "A")).isFalse();
    assertThat(lake.namespaces(Namespace.ROOT)).containsExactly(VISION);
  }

  @Test
  void aTableThatWasTakenBackIsNotListed() {
    UUID created = createTable(VISION, "a");
    assertThat(RecordTable.at(lake.place(VISION, "a")).retract(created)).isTrue();
    assertThat(lake.tables(VISION)).isEmpty();
    assertThat(lake.hasTable(VISION, "a")).isFalse();
    assertThat(lake.exists(VISION)).isFalse();
    createTable(VISION, "a");
    assertThat(lake.tables(VISION)).containsExactly("a");
  }

  @Test
  void namespacesHaveProperties() {
    assertThat(lake.create(VISION, Map.of("comment", "photos", "owner", "ü"))).isTrue();
    assertThat(lake.create(VISION, Map.of())).isFalse();
    assertThat(lake.find(VISION)).contains(sorted(Map.of("comment", "photos", "owner", "ü")));
    Map<String, String> changes = new HashMap<>(Map.of("comment", "", "b.c", "1"));
    changes.put("owner", null);
    changes.put("missing", null);
    assertThat(lake.alter(VISION, changes)).isTrue();
    assertThat(lake.find(VISION)).contains(sorted(Map.of("comment", "", "b.c", "1")));
    assertThat(lake.create(VISION.child("eu"), Map.of())).isTrue();
    assertThat(lake.namespaces(VISION)).containsExactly(VISION.child("eu"));
    assertThat(lake.drop(VISION)).isEqualTo(Warehouse.Drop.NOT_EMPTY);
    assertThat(lake.drop(VISION.child("eu"))).isEqualTo(Warehouse.Drop.DROPPED);
    assertThat(lake.namespaces(VISION)).isEmpty();
    assertThat(lake.drop(VISION)).isEqualTo(Warehouse.Drop.DROPPED);
    assertThat(lake.exists(VISION)).isFalse();
    assertThat(lake.drop(VISION)).isEqualTo(Warehouse.Drop.MISSING);
    assertThat(lake.create(VISION, Map.of("again", "yes"))).isTrue();
    assertThat(lake.find(VISION)).contains(sorted(Map.of("again", "yes")));
  }

  private static java.util.SortedMap<String, String> sorted(Map<String, String> properties) {
    return new java.util.TreeMap<>(properties);
  }

  @Test
  void theWarehouseItselfHasPropertiesAndAlwaysExists() {
    assertThat(lake.create(Namespace.ROOT, Map.of())).isFalse();
    assertThat(lake.alter(Namespace.ROOT, Map.of("a", "1"))).isTrue();
    assertThat(lake.find(Namespace.ROOT)).contains(sorted(Map.of("a", "1")));
    assertThat(lake.namespaces(Namespace.ROOT)).isEmpty();
    assertThat(lake.drop(Namespace.ROOT)).isEqualTo(Warehouse.Drop.DROPPED);
    assertThat(lake.find(Namespace.ROOT)).contains(sorted(Map.of()));
  }

  @Test
  void aNamespaceThatNobodyCreatedIsThereAsLongAsItsTables() {
    Namespace deep = Namespace.of("a", "b", "c");
    UUID created = createTable(deep, "t");
    assertThat(lake.namespaces(Namespace.ROOT)).containsExactly(Namespace.of("a"));
    assertThat(lake.exists(deep)).isTrue();
    assertThat(lake.alter(Namespace.of("a"), Map.of("x", "1"))).isTrue();
    assertThat(lake.drop(deep)).isEqualTo(Warehouse.Drop.NOT_EMPTY);
    RecordTable.at(lake.place(deep, "t")).retract(created);
    assertThat(lake.exists(deep)).isFalse();
    assertThat(lake.find(Namespace.of("a"))).contains(sorted(Map.of("x", "1")));
  }

  @Test
  void propertiesOfANamespaceThatIsThereByItsTablesAreKept() {
    UUID created = createTable(VISION, "t");
    assertThat(lake.create(VISION, Map.of("comment", "photos"))).isFalse();
    assertThat(lake.create(VISION, Map.of("comment", "later"))).isFalse();
    assertThat(lake.find(VISION)).contains(sorted(Map.of("comment", "photos")));
    RecordTable.at(lake.place(VISION, "t")).retract(created);
    assertThat(lake.namespaces(Namespace.ROOT)).containsExactly(VISION);
  }

  @Test
  void aTableIsListedAndFoundAtEachLevel() {
    Namespace deepest = new Namespace(Collections.nCopies(Namespace.MOST_LEVELS, "a"));
    createTable(deepest, "t");
    assertThat(lake.tables(deepest)).containsExactly("t");
    assertThat(lake.exists(deepest)).isTrue();
    assertThat(lake.namespaces(deepest)).isEmpty();
    assertThat(lake.drop(deepest)).isEqualTo(Warehouse.Drop.NOT_EMPTY);
  }

  @Test
  void aTableIsNoNamespace() {
    createTable(Namespace.ROOT, "t");
    Namespace namespace = Namespace.of("t");
    assertThat(lake.exists(namespace)).isFalse();
    assertThat(lake.create(namespace, Map.of())).isFalse();
    assertThat(lake.alter(namespace, Map.of("a", "1"))).isFalse();
    assertThat(lake.drop(namespace)).isEqualTo(Warehouse.Drop.MISSING);
    assertThat(Files.exists(path("t/_namespace"))).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "_a",
        ".a",
        "a.",
        "a ",
        "a/b",
        "a\\b",
        "a:b",
        "a*",
        "a?",
        "a\"b",
        "a|b",
        "a[b",
        "a{b",
        "a\nb",
        "manifest",
        "shard",
        "list",
        "tag",
        "meta.json"
      })
  void namesThatCouldBeTakenForSomethingElseAreRefused(String name) {
    assertThatThrownBy(() -> lake.place(Namespace.ROOT, name))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'" + name + "' is not allowed");
    assertThatThrownBy(() -> Namespace.of("a", name)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void limitsAreNamed() {
    String long256 = "ü".repeat(128);
    assertThatThrownBy(() -> Namespace.of(long256)).hasMessageContaining("255 bytes");
    lake.place(Namespace.ROOT, long256.substring(1) + "x");
    List<String> levels = Collections.nCopies(17, "a");
    assertThatThrownBy(() -> new Namespace(levels)).hasMessageContaining("at most 16");
    Map<String, String> many = new HashMap<>();
    for (int i = 0; i < 1001; i++) {
      many.put("p" + i, "");
    }
    assertThatThrownBy(() -> lake.create(VISION, many)).hasMessageContaining("at most 1000");
    assertThatThrownBy(() -> lake.create(VISION, Map.of("a", "x".repeat(65_537))))
        .hasMessageContaining("65537 characters in the property 'a'");
    assertThatThrownBy(() -> lake.create(VISION, Map.of("", "x"))).hasMessageContaining("no name");
    assertThat(lake.exists(VISION)).isFalse();
  }

  @Test
  void membersOfLaterReleasesAreKept() throws IOException {
    lake.create(VISION, Map.of());
    Path file = path("vision/_namespace/00000000000000000000.json");
    reseal(file, "\"properties\":{}", "\"properties\":{},\"retention\":7");
    lake.alter(VISION, Map.of("a", "1"));
    assertThat(path("vision/_namespace/00000000000000000001.json"))
        .content()
        .contains("\"retention\":7", "\"a\":\"1\"");
    reseal(file, "\"format\":2", "\"format\":3");
    reseal(path("vision/_namespace/00000000000000000001.json"), "\"format\":2", "\"format\":3");
    assertThatThrownBy(() -> lake.find(VISION)).isInstanceOf(UnsupportedFormatException.class);
  }

  @Test
  void damageIsFound() throws IOException {
    lake.create(VISION, Map.of("a", "1"));
    Path file = path("vision/_namespace/00000000000000000000.json");
    String content = Files.readString(file);
    Files.writeString(file, content.replace("\"1\"", "\"2\""));
    assertThatThrownBy(() -> lake.find(VISION))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("00000000000000000000.json");
    Files.writeString(file, content);
    reseal(file, "\"a\":\"1\"", "\"a\":1");
    assertThatThrownBy(() -> lake.find(VISION)).isInstanceOf(CorruptDataException.class);
  }

  @Test
  void aDamagedNamespaceStandsInNobodysWay() throws IOException {
    Namespace damaged = VISION.child("damaged");
    lake.create(damaged, Map.of("a", "1"));
    Files.writeString(path("vision/damaged/_namespace/00000000000000000000.json"), "{");
    lake.create(VISION.child("sound"), Map.of());
    createTable(damaged, "t");
    assertThat(lake.namespaces(VISION)).containsExactly(damaged, VISION.child("sound"));
    assertThat(lake.exists(VISION)).isTrue();
    assertThat(lake.exists(damaged)).isTrue();
    assertThat(lake.tables(damaged)).containsExactly("t");
    assertThat(lake.create(damaged, Map.of())).isFalse();
    assertThatThrownBy(() -> lake.find(damaged)).isInstanceOf(CorruptDataException.class);
    assertThatThrownBy(() -> lake.alter(damaged, Map.of("a", "2")))
        .isInstanceOf(CorruptDataException.class);
    assertThat(lake.drop(damaged)).isEqualTo(Warehouse.Drop.NOT_EMPTY);
    RecordTable table = RecordTable.at(lake.place(damaged, "t"));
    table.drop(table.latest().tableId(), DropOptions.defaults());
    assertThat(lake.drop(damaged)).isEqualTo(Warehouse.Drop.DROPPED);
    assertThat(lake.exists(damaged)).isFalse();
    assertThat(lake.create(damaged, Map.of("b", "1"))).isTrue();
    assertThat(lake.find(damaged)).contains(sorted(Map.of("b", "1")));
  }

  private static void reseal(Path file, String from, String to) throws IOException {
    String json = Files.readString(file).replaceFirst(",\"crc32c\".*\n", "}").replace(from, to);
    var object = new com.fasterxml.jackson.databind.ObjectMapper().readTree(json);
    Files.write(
        file,
        io.zrecord.internal.format.SealedJson.seal(
            (com.fasterxml.jackson.databind.node.ObjectNode) object));
    assertThat(Files.readString(file)).contains(to);
  }

  @Test
  void foreignDirectoriesAreLookedAtSideBySideAndNotWithoutEnd() throws IOException {
    for (int i = 0; i < 1100; i++) {
      Files.createDirectories(path("logs/" + i / 100 + "/" + i % 100 + "/x"));
    }
    createTable(Namespace.of("logs"), "beside them");
    List<String> asked = Collections.synchronizedList(new ArrayList<>());
    Set<Thread> threads = ConcurrentHashMap.newKeySet();
    Storage parallel = new ForwardingStorage(LocalStorage.at(path(""))) {
      @Override
      public int requestsAtOnce() {
        return 8;
      }
    };
    Warehouse counted = Warehouse.of(parallel, path -> {
      asked.add(path);
      threads.add(Thread.currentThread());
      return LocalStorage.at(path(path));
    });
    Namespace logs = Namespace.of("logs");
    assertThat(counted.exists(logs)).isTrue();
    assertThat(asked).hasSizeLessThan(40);
    RecordTable table = RecordTable.at(lake.place(Namespace.of("logs"), "beside them"));
    table.drop(table.latest().tableId(), DropOptions.defaults());
    asked.clear();
    threads.clear();
    assertThat(counted.exists(logs)).isFalse();
    assertThat(asked).hasSize(1 + 1000);
    assertThat(threads).hasSizeGreaterThan(1);
    createTable(Namespace.of("logs", "5", "5"), "t");
    assertThat(counted.exists(Namespace.of("logs", "5"))).isTrue();
    assertThat(counted.exists(logs)).isFalse();
  }

  @Test
  void aWarehouseOfManyTablesIsListedWithAFewRequestsForEach() {
    for (int i = 0; i < 20; i++) {
      createTable(VISION, "t" + i);
    }
    List<String> asked = Collections.synchronizedList(new ArrayList<>());
    Storage root = LocalStorage.at(path(""));
    Warehouse counted = Warehouse.of(root, path -> {
      asked.add(path);
      return LocalStorage.at(path(path));
    });
    assertThat(counted.tables(VISION)).hasSize(20).isSorted();
    assertThat(asked).hasSize(20);
    assertThat(Optional.of(counted.location())).contains(root.location());
  }
}
