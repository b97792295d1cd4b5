package io.zrecord.internal.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.format.JsonObject;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.testing.Budget;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Shards in the place of others, against a list in which they are exchanged. */
final class ReplacedShardsTest {
  private static final String FILE = "list/" + new UUID(1, 1) + ".json";

  private final Random random = Budget.random();

  private ShardSummary shard() {
    return shard(random.nextLong(), 1 + random.nextInt(9));
  }

  private static ShardSummary shard(long high, long length) {
    TreeMap<Integer, Long> values = new TreeMap<>();
    values.put(1, 7L);
    return new ShardSummary(
        new UUID(high, 1),
        length,
        List.of(ChunkFile.of(new UUID(high, 2), 6400)),
        List.of(new TablesRef(new UUID(high, 3), 128 + 77 + 16, 128, 77, 5, List.of(1))),
        values);
  }

  private List<ShardSummary> shards(int count) {
    return IntStream.range(0, count).mapToObj(i -> shard()).toList();
  }

  private ReplacedShards any(List<ShardSummary> shards) {
    List<ReplacedShard> replaced = new ArrayList<>();
    for (int i = 0; i < shards.size(); i++) {
      if (random.nextInt(3) == 0) {
        replaced.add(new ReplacedShard(i, shards.get(i).length(), shards(random.nextInt(4))));
      }
    }
    return new ReplacedShards(replaced);
  }

  private static List<ShardSummary> exchanged(List<ShardSummary> shards, ReplacedShards replaced) {
    List<List<ShardSummary>> standing = new ArrayList<>();
    shards.forEach(shard -> standing.add(List.of(shard)));
    replaced.inOrder().forEach(some -> standing.set(some.ordinal(), some.shards()));
    return standing.stream().flatMap(List::stream).toList();
  }

  @Test
  void twoReplacementsAreOneInWhateverFileTheyStand() {
    for (int round = 0; round < Budget.of(2000); round++) {
      List<ShardSummary> shards = shards(1 + random.nextInt(8));
      ReplacedShards first = any(shards);
      List<ShardSummary> standing = exchanged(shards, first);
      ReplacedShards second = any(standing);
      List<ShardSummary> last = exchanged(standing, second);
      assertThat(first.in(FILE, shards)).isEqualTo(standing);
      ReplacedShards both = first.then(FILE, second);
      assertThat(both.in(FILE, shards)).isEqualTo(last);
      assertThat(both.addedShards()).isEqualTo(last.size() - shards.size());
      assertThat(both.addedRecords()).isEqualTo(lengthOf(last) - lengthOf(shards));
    }
  }

  @Test
  void whatIsReplacedInAListOfListsIsReplacedInItsLists() {
    for (int round = 0; round < Budget.of(2000); round++) {
      List<List<ShardSummary>> inLists = new ArrayList<>();
      List<ShardListFile> lists = new ArrayList<>();
      List<ShardSummary> all = new ArrayList<>();
      for (int i = 0; i < 1 + random.nextInt(4); i++) {
        List<ShardSummary> shards = shards(1 + random.nextInt(4));
        ShardListFile list = ShardListFile.of(FILE, shards, ShardListFile.writeFile(shards));
        ReplacedShards before = any(shards);
        if (exchanged(shards, before).isEmpty()) {
          before = ReplacedShards.NONE;
        }
        inLists.add(shards);
        lists.add(list.then(before));
        all.addAll(exchanged(shards, before));
      }
      ReplacedShards replaced = any(all);
      if (exchanged(all, replaced).isEmpty()) {
        replaced = ReplacedShards.NONE;
      }
      List<ShardSummary> expected = exchanged(all, replaced);
      assertThat(ReplacedShards.joined(lists, replaced.ofEach(FILE, lists))).isEqualTo(replaced);
      byte[] content = ShardListFile.writeLists(lists);
      ShardListFile ofLists = ShardListFile.ofLists(FILE, lists, content);
      assertThat(ofLists.readLists(FILE, content)).isEqualTo(lists);
      ShardListFile changed = ofLists.then(replaced);
      assertThat(changed.readLists(FILE, content)).isEqualTo(lists);
      assertThat(changed.unreplaced()).isEqualTo(ofLists);
      List<ShardSummary> found = new ArrayList<>();
      List<ShardListFile> standing = changed.standing(lists);
      for (int i = 0; i < lists.size(); i++) {
        List<ShardSummary> here = standing.get(i).replaced().in(FILE, inLists.get(i));
        assertThat(standing.get(i).shardCount()).isEqualTo(here.size());
        assertThat(standing.get(i).length()).isEqualTo(lengthOf(here));
        found.addAll(here);
      }
      assertThat(found).isEqualTo(expected);
      assertThat(changed.shardCount()).isEqualTo(expected.size());
      assertThat(changed.length()).isEqualTo(lengthOf(expected));
    }
  }

  private static long lengthOf(List<ShardSummary> shards) {
    return shards.stream().mapToLong(ShardSummary::length).sum();
  }

  /** Lists of 3 shards with 10, 11 and 12 records, of which the second is replaced by two. */
  private static ShardListFile sound() {
    List<ShardSummary> shards = List.of(shard(1, 10), shard(2, 11), shard(3, 12));
    ShardListFile list = ShardListFile.of(FILE, shards, ShardListFile.writeFile(shards));
    return list.then(new ReplacedShards(
        List.of(new ReplacedShard(1, 11, List.of(shard(4, 5), shard(5, 5))))));
  }

  @Test
  void anElementIsReadAsItWasWritten() {
    assertThat(read(node -> {})).isEqualTo(sound());
    assertThat(sound().shardCount()).isEqualTo(4);
    assertThat(sound().length()).isEqualTo(32);
  }

  private static ShardListFile read(Consumer<ObjectNode> change) {
    FieldSets fieldSets = new FieldSets();
    ObjectNode node = sound().write(fieldSets);
    change.accept(node);
    return ShardListFile.read(new JsonObject("file", node), fieldSets);
  }

  private static ArrayNode replaced(ObjectNode node) {
    return (ArrayNode) node.get("replaced");
  }

  @Test
  void whatBreaksARuleIsRefused() {
    requireCorrupt("shard 3 of a list is replaced, which has 3 shards", node -> set(node, 0, 3));
    requireCorrupt("an integer from 0", node -> set(node, 0, -1));
    requireCorrupt("an integer from 1 to", node -> set(node, 1, 0));
    requireCorrupt(
        "an integer from 2 to", node -> replaced(node).add(replaced(node).get(0)));
    requireCorrupt("an array of 3 to 3", node -> ((ArrayNode) replaced(node).get(0)).add(1));
    requireCorrupt("an array of objects", node -> set(node, 2, 1));
    requireCorrupt(
        "an array of objects", node -> ((ArrayNode) replaced(node).get(0).get(2)).add(1));
    requireCorrupt("would have 0 shards", node -> node.put("shards", 1));
    requireCorrupt("with 2 records if none", node -> node.put("length", 1));
    requireCorrupt("more than 2^63 records", node -> {
      node.put("length", Long.MAX_VALUE);
      set(node, 1, Long.MAX_VALUE);
    });
    requireCorrupt("'replaced' is {}", node -> node.set("replaced", SealedJson.object()));
  }

  private static void set(ObjectNode node, int element, long number) {
    ArrayNode first = (ArrayNode) replaced(node).get(0);
    first.set(element, first.numberNode(number));
  }

  private static void requireCorrupt(String message, Consumer<ObjectNode> change) {
    assertThatThrownBy(() -> read(change))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining(message);
  }

  @Test
  void whatIsReplacedMustBeInTheList() {
    List<ShardSummary> shards = List.of(shard(1, 10), shard(2, 12), shard(3, 12));
    assertThatThrownBy(() -> sound().replaced().in(FILE, shards))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("has 11 records, but shard")
        .hasMessageContaining("has 12");
    List<ShardSummary> twice = List.of(shard(1, 10), shard(2, 11), shard(5, 12));
    assertThatThrownBy(() -> sound().replaced().in(FILE, twice))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("once more beside that");
    ReplacedShards later = new ReplacedShards(List.of(new ReplacedShard(2, 6, List.of())));
    assertThatThrownBy(() -> sound().then(later))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("has 6 records, but shard");
    ReplacedShards tooLong = new ReplacedShards(List.of(new ReplacedShard(0, 30, List.of())));
    assertThatThrownBy(() -> sound().then(tooLong))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("more records than it has");
    assertThatThrownBy(() -> sound().replaced().in(FILE, shards.subList(0, 1)))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("shard 1 is replaced, but there are 1 shards");
    ReplacedShards beyond = new ReplacedShards(List.of(new ReplacedShard(4, 6, List.of())));
    assertThatThrownBy(() -> beyond.ofEach(FILE, List.of(sound())))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("shard 4 is replaced, but there are 4 shards");
  }
}
