package io.zrecord.internal.table;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.format.Features;
import io.zrecord.internal.format.JsonObject;
import io.zrecord.schema.Identity;
import io.zrecord.shard.ShardSummary;
import java.util.List;
import java.util.Optional;

/**
 * Requires that the members of a manifest fit together (FORMAT.md section 7). Each rule that does
 * not hold is a {@link CorruptDataException} that names the file.
 */
final class ManifestRules {
  private ManifestRules() {}

  static void require(JsonObject json, Manifest manifest) {
    requireLink(json, manifest.version(), Link.of(manifest));
    requireRecords(json, manifest);
    requireTags(json, manifest.version(), manifest.tags());
    requireLengths(json, manifest);
    ReplacedShards.requireOnce(json, manifest.lists(), manifest.shards());
    requirePartitions(json, manifest);
    requireDeclarations(json, manifest);
    if (manifest.schema().fields().stream().anyMatch(field -> field.id() >= manifest.nextFieldId())
        || manifest.schema().unreadable().stream()
            .anyMatch(field -> field.id() >= manifest.nextFieldId())) {
      throw json.corrupt(
          "a field has an id that is not below nextFieldId " + manifest.nextFieldId());
    }
  }

  static void requireVersion(JsonObject json, long version, long expected) {
    if (version != expected) {
      throw json.corrupt("it is version " + version + ", but its name says " + expected);
    }
  }

  static void requireLink(JsonObject json, long version, Link link) {
    if (link.previous().isPresent() != version > 0) {
      throw json.corrupt("version " + version
          + (version > 0
              ? " lacks the member 'previous'"
              : " has a member 'previous', but there is no version before"));
    }
    if (link.oldest() > version) {
      throw json.corrupt("its oldest version is " + link.oldest() + ", after itself");
    }
  }

  private static void requireRecords(JsonObject json, Manifest manifest) {
    RecordsVersion own = new RecordsVersion(manifest.version(), manifest.commitId());
    if (manifest.isCare()
        ? manifest.records().version() >= manifest.version()
        : !manifest.records().equals(own)) {
      throw json.corrupt("operation '" + manifest.operation()
          + "' does not fit its records, which it says are those of version "
          + manifest.records().version() + " by commit " + manifest.records().commitId());
    }
    if (manifest.operation().equals("sweep") && manifest.sweptBeforeMillis().isEmpty()) {
      throw json.corrupt("operation 'sweep' lacks the member 'sweptBeforeMillis'");
    }
    if (manifest.isCare() && manifest.indexMap().isPresent()) {
      throw json.corrupt(
          "it has an index map, but operation '" + manifest.operation() + "' moves no records");
    }
  }

  private static void requireTags(JsonObject json, long version, List<TagEntry> tags) {
    if (tags.size() > Manifest.MAX_TAGS) {
      throw json.corrupt(
          "it has " + tags.size() + " tags, but at most " + Manifest.MAX_TAGS + " are allowed");
    }
    String before = "";
    for (TagEntry tag : tags) {
      if (tag.name().compareTo(before) <= 0) {
        throw json.corrupt("tag '" + tag.name() + "' comes after '" + before
            + "': tags are sorted, and each name is there once");
      }
      if (tag.version() >= version) {
        throw json.corrupt("tag '" + tag.name() + "' names version " + tag.version()
            + ", which is not before version " + version);
      }
      before = tag.name();
    }
  }

  private static void requirePartitions(JsonObject json, Manifest manifest) {
    List<Integer> partitions = manifest.partitions();
    if (partitions.stream().distinct().count() != partitions.size()
        || partitions.stream().anyMatch(id -> id >= manifest.nextFieldId())) {
      throw json.corrupt("its partition fields " + partitions + " are not all different fields");
    }
    requirePartitions(json.resource(), manifest.shards(), partitions);
    for (ShardListFile list : manifest.lists()) {
      requirePartitions(json.resource(), list.replaced().shards().toList(), partitions);
    }
  }

  /** Requires that shards have one value of each partition field. */
  static void requirePartitions(
      String resource, List<ShardSummary> shards, List<Integer> partitions) {
    for (ShardSummary shard : shards) {
      if (shard.partition().size() != partitions.size()) {
        throw new CorruptDataException(
            resource,
            "Cannot read " + resource + ": shard " + shard.id() + " has "
                + shard.partition().size() + " partition values, but the table has "
                + partitions.size() + " partition fields");
      }
    }
  }

  private static void requireDeclarations(JsonObject json, Manifest manifest) {
    if (manifest.declarations().fieldIds().anyMatch(id -> id >= manifest.nextFieldId())) {
      throw json.corrupt(
          "its declarations name a field that is not below nextFieldId " + manifest.nextFieldId());
    }
    if (!manifest.declarations().enforced().isEmpty()
        && !Features.hasForWriters(json, Features.ENFORCED_CHECKS)) {
      throw json.corrupt("a constraint is enforced, but its features for writers lack '"
          + Features.ENFORCED_CHECKS + "'");
    }
    requireIdentities(json, manifest);
  }

  private static void requireIdentities(JsonObject json, Manifest manifest) {
    for (Identity identity : manifest.declarations().identities()) {
      int id = identity.fieldId();
      if (!Features.hasForWriters(json, Features.IDENTITY)) {
        throw json.corrupt("field " + id + " has an identity, but its features for writers lack '"
            + Features.IDENTITY + "'");
      }
      boolean isUnreadable =
          manifest.schema().unreadable().stream().anyMatch(field -> field.id() == id);
      Optional<String> obstacle = manifest
          .schema()
          .find(id)
          .map(Identity::obstacle)
          .orElse(isUnreadable ? Optional.empty() : Optional.of("there is no such field"))
          .or(() -> manifest.partitions().contains(id)
              ? Optional.of("the table is partitioned by it")
              : Optional.empty());
      if (obstacle.isPresent()) {
        throw json.corrupt("field " + id + " cannot have an identity: " + obstacle.get());
      }
    }
  }

  private static void requireLengths(JsonObject json, Manifest manifest) {
    long length = ShardListFile.sumOfLengths(json, manifest.shards());
    long shardCount = manifest.shards().size();
    for (ShardListFile list : manifest.lists()) {
      shardCount += list.shardCount();
      if (shardCount > Integer.MAX_VALUE) {
        throw json.corrupt("it has " + shardCount + " shards or more, and at most "
            + Integer.MAX_VALUE + " are possible");
      }
      length += list.length();
      if (length < 0) {
        throw json.corrupt("its shards have more than 2^63 records");
      }
    }
    if (length != json.integer("length", 0, Long.MAX_VALUE)) {
      throw json.corrupt("its shards have " + length + " records, but it says another length");
    }
    long recordCount = length;
    manifest
        .indexMap()
        .map(ShardSummary::length)
        .filter(map -> map != recordCount)
        .ifPresent(map -> {
          throw json.corrupt(
              "its index map has " + map + " records, but the version has " + recordCount);
        });
  }
}
