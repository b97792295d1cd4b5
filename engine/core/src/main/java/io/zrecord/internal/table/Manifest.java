package io.zrecord.internal.table;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.internal.format.DeclarationsJson;
import io.zrecord.internal.format.Features;
import io.zrecord.internal.format.FieldJson;
import io.zrecord.internal.format.JsonObject;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.schema.Declarations;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;

/**
 * The manifest of one version of a table (FORMAT.md section 7).
 *
 * @param head what identifies the version and its commit
 * @param schema the fields
 * @param partitions ids of the partition fields, of which each shard has one value; mostly empty
 * @param declarations what the table says of itself
 * @param nextFieldId greater than every field id ever used
 * @param lists older shards
 * @param shards newer shards
 * @param transactions last transaction number of each application
 * @param indexMap shard whose record <i>i</i> holds the index in this version of record <i>i</i> of
 *     the version before
 * @param retention what the version keeps of versions before
 */
public record Manifest(
    Head head,
    RecordSchema schema,
    List<Integer> partitions,
    Declarations declarations,
    int nextFieldId,
    List<ShardListFile> lists,
    List<ShardSummary> shards,
    Map<String, Long> transactions,
    Optional<ShardSummary> indexMap,
    Retention retention) {
  public Manifest {
    partitions = List.copyOf(partitions);
  }

  /** Makes the manifest of a table that is not partitioned and declares nothing. */
  public Manifest(
      Head head,
      RecordSchema schema,
      int nextFieldId,
      List<ShardListFile> lists,
      List<ShardSummary> shards,
      Map<String, Long> transactions,
      Optional<ShardSummary> indexMap,
      Retention retention) {
    this(
        head,
        schema,
        List.of(),
        Declarations.NONE,
        nextFieldId,
        lists,
        shards,
        transactions,
        indexMap,
        retention);
  }

  /** Most tags of a version. */
  public static final int MAX_TAGS = 10_000;

  /** Operations that leave all records where they are, and all shards and fields as they are. */
  public static final Set<String> CARE =
      Set.of("tag", "untag", "expire", "sweep", "repair", "declare", "reserve");

  /**
   * Operation of a version that takes the creation of the table back. While it is the newest, there
   * is no table. It stays, so that its number and the numbers before never come back.
   */
  public static final String RETRACT = "retract";

  /**
   * What identifies a version and its commit.
   *
   * @param tableId identity of the table
   * @param version number of the version, from 0
   * @param commitId unique to the attempt that published the version
   * @param previous the commit of the version before; empty for version 0
   * @param base the version that the change was planned on; empty if there was no table then
   * @param timestampMillis Unix time, greater than that of the version before
   * @param operation what the commit did; {@link #CARE} has the names with a meaning
   * @param properties informative
   * @param kept what the version before says beyond this release
   */
  public record Head(
      UUID tableId,
      long version,
      UUID commitId,
      Optional<UUID> previous,
      OptionalLong base,
      long timestampMillis,
      String operation,
      Map<String, String> properties,
      Kept kept) {

    /** Makes the head of a version that says nothing beyond this release. */
    public Head(
        UUID tableId,
        long version,
        UUID commitId,
        Optional<UUID> previous,
        OptionalLong base,
        long timestampMillis,
        String operation,
        Map<String, String> properties) {
      this(
          tableId,
          version,
          commitId,
          previous,
          base,
          timestampMillis,
          operation,
          properties,
          Kept.NOTHING);
    }

    /**
     * Returns the head of the version after the last. Leaves a base out that is not before the new
     * version, because a repair gave that base up. A version after a retraction begins another
     * table, unless it is a retraction as well.
     *
     * @param last the newest version or retraction; empty if there is none
     * @param base the version that the change was planned on; empty if there was no table then
     * @param nowMillis Unix time of the committer
     */
    public static Head after(
        Optional<Manifest> last,
        UUID commitId,
        OptionalLong base,
        long nowMillis,
        String operation,
        Map<String, String> properties) {
      long version = last.map(manifest -> manifest.version() + 1).orElse(0L);
      return new Head(
          last.filter(before -> before.isTable() || operation.equals(RETRACT))
              .map(Manifest::tableId)
              .orElseGet(UUID::randomUUID),
          version,
          commitId,
          last.map(Manifest::commitId),
          base.isPresent() && base.getAsLong() < version ? base : OptionalLong.empty(),
          last.map(manifest -> Math.max(nowMillis, manifest.timestampMillis() + 1))
              .orElse(nowMillis),
          operation,
          properties,
          last.filter(Manifest::isTable).map(before -> before.head.kept).orElse(Kept.NOTHING));
    }

    /** Returns this head of a version that says beyond this release what another one says. */
    public Head keepingAs(Head other) {
      return new Head(
          tableId,
          version,
          commitId,
          previous,
          base,
          timestampMillis,
          operation,
          properties,
          other.kept);
    }

    /** Returns this version as the version that changed records. */
    public RecordsVersion asRecords() {
      return new RecordsVersion(version, commitId);
    }
  }

  /**
   * What a version keeps of versions before.
   *
   * @param records the newest version, up to this one, whose operation is none of {@link #CARE}
   * @param oldest the floor: versions below it were expired, whatever files there are
   * @param tags sorted by name
   * @param sweptBeforeMillis files of shards that were last changed before that time, by the
   *     storage's clock, may have been swept unless a version named them; empty if nothing was
   */
  public record Retention(
      RecordsVersion records, long oldest, List<TagEntry> tags, OptionalLong sweptBeforeMillis) {
    public Retention {
      tags = List.copyOf(tags);
    }

    /** Makes what a table keeps that was never swept. */
    public Retention(RecordsVersion records, long oldest, List<TagEntry> tags) {
      this(records, oldest, tags, OptionalLong.empty());
    }

    /** Returns this with another floor. */
    public Retention withOldest(long newOldest) {
      return new Retention(records, newOldest, tags, sweptBeforeMillis);
    }

    /** Returns this with other tags. */
    public Retention withTags(List<TagEntry> newTags) {
      return new Retention(records, oldest, newTags, sweptBeforeMillis);
    }

    /**
     * Returns this with files swept that were last changed before a time. What earlier sweeps said
     * counts up to the storage's present time: their clock may have been ahead.
     */
    public Retention withSweptBefore(long millis, long storageMillis) {
      long earlier = Math.min(sweptBeforeMillis.orElse(millis), storageMillis);
      return new Retention(records, oldest, tags, OptionalLong.of(Math.max(millis, earlier)));
    }
  }

  /** Returns the identity of the table. */
  public UUID tableId() {
    return head.tableId;
  }

  /** Returns the number of the version, from 0. */
  public long version() {
    return head.version;
  }

  /** Returns the identity of the commit that published the version. */
  public UUID commitId() {
    return head.commitId;
  }

  /** Returns the commit of the version before; empty for version 0. */
  public Optional<UUID> previous() {
    return head.previous;
  }

  /** Returns the version that the change was planned on; empty if there was none. */
  public OptionalLong base() {
    return head.base;
  }

  /** Returns the Unix time of the commit. */
  public long timestampMillis() {
    return head.timestampMillis;
  }

  /** Returns what the commit did. */
  public String operation() {
    return head.operation;
  }

  /** Returns the informative properties. */
  public Map<String, String> properties() {
    return head.properties;
  }

  /** Returns the newest version, up to this one, that may have changed records. */
  public RecordsVersion records() {
    return retention.records;
  }

  /** Returns the floor: versions below it were expired. */
  public long oldest() {
    return retention.oldest;
  }

  /** Returns the floor with which the next version begins: itself after a retraction. */
  public long oldestOfNext() {
    return isTable() ? oldest() : version() + 1;
  }

  /** Tells whether there is a table as long as this version is the newest. */
  public boolean isTable() {
    return !operation().equals(RETRACT);
  }

  /**
   * Tells whether no version before matters to those that follow, because this one creates the
   * table or takes its creation back. No other operation lifts the floor to its own version.
   */
  public boolean isBeginning() {
    return oldest() == version();
  }

  /** Returns what chains the version to the version before. */
  public Link link() {
    return Link.of(this);
  }

  /** Returns the tags, sorted by name. */
  public List<TagEntry> tags() {
    return retention.tags;
  }

  /** Returns the time before which files that no version named may have been swept. */
  public OptionalLong sweptBeforeMillis() {
    return retention.sweptBeforeMillis;
  }

  /** Returns the tag of a name. */
  public Optional<TagEntry> tag(String name) {
    return tags().stream().filter(tag -> tag.name().equals(name)).findFirst();
  }

  /** Returns the tags of a version, by name. */
  public List<TagEntry> tagsOf(long version) {
    return tags().stream().filter(tag -> tag.version() == version).toList();
  }

  /** Tells whether the commit left all records, shards and fields as they were. */
  public boolean isCare() {
    return CARE.contains(operation());
  }

  /**
   * Requires that this release knows what the table needs of programs that change it.
   *
   * @param location the table, for the message
   * @throws io.zrecord.errors.UnsupportedFormatException if the version or a field uses an unknown
   *     feature
   */
  public void requireWritable(String location) {
    head.kept.obstacle().ifPresent(obstacle -> {
      throw Features.unwritable(location, obstacle);
    });
  }

  /** Returns the number of records of all shards. */
  public long length() {
    return lists.stream().mapToLong(ShardListFile::length).sum()
        + shards.stream().mapToLong(ShardSummary::length).sum();
  }

  byte[] write() {
    ObjectNode node = SealedJson.object()
        .put("format", JsonObject.FORMAT_VERSION)
        .put("table", tableId().toString())
        .put("version", version())
        .put("commit", commitId().toString());
    previous().ifPresent(commit -> node.put("previous", commit.toString()));
    base().ifPresent(base -> node.put("base", base));
    node.set("records", records().write());
    node.put("oldest", oldest());
    ArrayNode tagsNode = node.putArray("tags");
    tags().forEach(tag -> tagsNode.add(tag.write()));
    sweptBeforeMillis().ifPresent(millis -> node.put("sweptBeforeMillis", millis));
    node.put("timestampMillis", timestampMillis()).put("operation", operation());
    ObjectNode propertiesNode = node.putObject("properties");
    properties().forEach(propertiesNode::put);
    node.put("length", length()).put("nextFieldId", nextFieldId);
    head.kept.writeFields(schema, node);
    if (!partitions.isEmpty()) {
      ArrayNode partitionsNode = node.putArray("partitions");
      partitions.forEach(partitionsNode::add);
    }
    DeclarationsJson.write(node, declarations, head.kept.ofDeclarations());
    Features.write(node, featuresForWriters());
    ArrayNode listsNode = node.putArray("lists");
    FieldSets fieldSets = new FieldSets();
    lists.forEach(list -> listsNode.add(list.write(fieldSets)));
    Optional<ObjectNode> mapNode = indexMap.map(map -> ShardJson.write(map, fieldSets));
    ShardJson.writeAll(node, shards, fieldSets);
    ObjectNode transactionsNode = node.putObject("transactions");
    transactions.forEach(transactionsNode::put);
    mapNode.ifPresent(map -> node.set("indexMap", map));
    return SealedJson.seal(JsonObject.withMembers(node, head.kept.members()));
  }

  /** Returns the features that only writers must know, sorted. */
  private List<String> featuresForWriters() {
    List<String> features = new ArrayList<>();
    if (!declarations.enforced().isEmpty()) {
      features.add(Features.ENFORCED_CHECKS);
    }
    if (!declarations.identities().isEmpty()) {
      features.add(Features.IDENTITY);
    }
    return features;
  }

  static Manifest read(String resource, long expectedVersion, byte[] file) {
    JsonObject json = SealedJson.open(resource, file).requireFormat();
    FieldSets fieldSets = FieldSets.read(json);
    Manifest manifest = new Manifest(
        readHead(json, expectedVersion),
        FieldJson.readSchema(json),
        json.has("partitions") ? json.integers("partitions", 1, Integer.MAX_VALUE) : List.of(),
        DeclarationsJson.read(json),
        (int) json.integer("nextFieldId", 1, Integer.MAX_VALUE),
        json.objects("lists").stream()
            .map(list -> ShardListFile.read(list, fieldSets))
            .toList(),
        ShardJson.readAll(json, fieldSets),
        json.integerMap("transactions"),
        json.has("indexMap")
            ? Optional.of(ShardJson.read(json.object("indexMap"), fieldSets))
            : Optional.empty(),
        readRetention(json));
    ManifestRules.require(json, manifest);
    return manifest;
  }

  private static Head readHead(JsonObject json, long expectedVersion) {
    long version = json.integer("version", 0, Long.MAX_VALUE);
    ManifestRules.requireVersion(json, version, expectedVersion);
    return new Head(
        json.uuid("table"),
        version,
        json.uuid("commit"),
        json.optionalUuid("previous"),
        json.optionalLong("base", 0, version - 1),
        json.integer("timestampMillis", 0, Long.MAX_VALUE),
        json.string("operation"),
        json.strings("properties"),
        Kept.of(json));
  }

  private static Retention readRetention(JsonObject json) {
    return new Retention(
        RecordsVersion.read(json.object("records")),
        json.integer("oldest", 0, Long.MAX_VALUE),
        json.objects("tags").stream().map(TagEntry::read).toList(),
        json.optionalLong("sweptBeforeMillis", 0, Long.MAX_VALUE));
  }
}
