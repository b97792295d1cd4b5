package io.zrecord.feed;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.zrecord.RecordDataset;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Holds all that is stored to resume a training, with other numbers of threads, ranks and batches
 * alive, and other batch sizes. Positions are those of the order of all ranks: every rank has the
 * same state after the same number of batches. With {@link io.zrecord.sampler.Remainder#UNEVEN}
 * some ranks may end an epoch a batch earlier; then the least of their states counts. States with
 * batches {@link #ahead} are those of one rank and one plan. Immutable.
 *
 * @param epoch from 0
 * @param batch number of batches of the training that were delivered, from the very beginning
 * @param groups where each group of the training is in its epoch
 * @param validation where the pass of the validation is that is under way; null without one
 * @param ahead what was delivered beyond this state; null for nothing, as always in a feed that
 *     delivers in order
 */
public record FeedState(
    long epoch,
    long batch,
    List<GroupState> groups,
    @Nullable ValidationState validation,
    @Nullable Ahead ahead) {
  private static final int FORMAT = 1;
  private static final int MAX_CHARACTERS = 1 << 20;
  private static final long MAX_NUMBER = 1L << 62;
  private static final ObjectMapper JSON = JsonMapper.builder()
      .enable(
          DeserializationFeature.FAIL_ON_TRAILING_TOKENS,
          DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES,
          DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
      .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
      .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
      .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
      .build();

  /**
   * Says where a group is in its epoch.
   *
   * @param name the name of the group
   * @param datasetVersion newest version of its table that changed records; null for a shard on its
   *     own
   * @param datasetCommit identity of the commit that made that version, which tells it from a
   *     version of the same number after a repair; null for a shard on its own
   * @param seed the seed of its sampler
   * @param sampler what its order is called, for people who read the state
   * @param order eight hexadecimal digits that tell its order from others
   * @param position number of positions of the epoch that all ranks together have consumed
   */
  public record GroupState(
      String name,
      @Nullable Long datasetVersion,
      @Nullable UUID datasetCommit,
      long seed,
      String sampler,
      String order,
      long position) {
    public GroupState {
      if (name == null || sampler == null || order == null) {
        throw new IllegalArgumentException(
            "A group of a feed's state has no name, no sampler or no order");
      }
      requireNumber("position of group '" + name + "'", position);
    }
  }

  /**
   * Says where a pass of the validation is.
   *
   * @param group ordinal of the group of the validation, from 0
   * @param at where that group is
   */
  public record ValidationState(int group, GroupState at) {
    public ValidationState {
      if (group < 0 || at == null) {
        throw new IllegalArgumentException(
            "A feed's state is in group " + group + " of the validation, at " + at);
      }
    }
  }

  /**
   * Names batches that overtook others.
   *
   * @param plan the plan in which the batches were counted: only the same plan can go on
   * @param batches the batches that were delivered, counted from the state: 1 is the batch after
   *     the next
   */
  public record Ahead(String plan, List<Long> batches) {
    public Ahead {
      if (plan == null || batches == null || batches.stream().anyMatch(n -> n == null || n < 1)) {
        throw new IllegalArgumentException("Batches ahead of a feed's state are " + batches
            + "; they count from 1, and belong to a plan");
      }
      batches = List.copyOf(batches);
    }
  }

  private static void requireNumber(String name, long value) {
    if (value < 0 || value > MAX_NUMBER) {
      throw new IllegalArgumentException(
          "A feed's state has " + name + " " + value + "; it must be 0 to 2^62");
    }
  }

  /** Describes a state as it is written to a file. */
  private record Document(
      int format,
      long epoch,
      long batch,
      @Nullable List<GroupState> groups,
      @Nullable ValidationState validation,
      @Nullable Ahead ahead) {}

  public FeedState {
    if (groups.stream().anyMatch(java.util.Objects::isNull)) {
      throw new IllegalArgumentException("A feed's state has a group that is null");
    }
    groups = List.copyOf(groups);
    requireNumber("epoch", epoch);
    requireNumber("batch", batch);
  }

  /** Returns one line of JSON with a format version. */
  public String toJson() {
    try {
      return JSON.writeValueAsString(new Document(FORMAT, epoch, batch, groups, validation, ahead));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Reads what {@link #toJson} wrote.
   *
   * @throws IllegalArgumentException if the text is anything else, or of another format
   */
  public static FeedState fromJson(String json) {
    if (json.length() > MAX_CHARACTERS) {
      throw damaged(json, "it has " + json.length() + " characters", null);
    }
    Document document;
    try {
      document = JSON.readValue(json, Document.class);
    } catch (JsonProcessingException e) {
      throw damaged(json, e.getOriginalMessage(), e);
    }
    if (document == null || document.groups() == null || document.format() != FORMAT) {
      throw damaged(json, "it is not of format " + FORMAT, null);
    }
    return new FeedState(
        document.epoch(),
        document.batch(),
        document.groups(),
        document.validation(),
        document.ahead());
  }

  private static IllegalArgumentException damaged(
      String json, String reason, @Nullable Throwable cause) {
    String shown = json.length() > 200 ? json.substring(0, 200) + "…" : json;
    return new IllegalArgumentException(
        "Cannot read the state of a feed " + shown + ": " + reason
            + "; give the line that toJson() made",
        cause);
  }

  /** Returns the state at a cursor. */
  static FeedState of(FeedPlan plan, Cursor cursor, List<Long> ahead) {
    List<GroupState> groups = new ArrayList<>();
    for (int i = 0; i < plan.trainingCount(); i++) {
      groups.add(groupState(plan.group(i), cursor, i));
    }
    ValidationState validation = null;
    if (cursor.isValidating()) {
      int group = cursor.validationGroup();
      validation = new ValidationState(
          group - plan.trainingCount(), groupState(plan.group(group), cursor, group));
    }
    Ahead overtakers = ahead.isEmpty() ? null : new Ahead(plan.describe(), ahead);
    return new FeedState(cursor.epoch(), cursor.batch(), groups, validation, overtakers);
  }

  private static GroupState groupState(GroupPlan group, Cursor cursor, int ordinal) {
    return new GroupState(
        group.name(),
        version(group.dataset()),
        commit(group.dataset()),
        group.seed(),
        group.orderName(),
        group.digest(),
        group.globalPosition(cursor.base(ordinal), cursor.position(ordinal)));
  }

  private static @Nullable Long version(RecordDataset dataset) {
    OptionalLong version = dataset.recordsVersion();
    return version.isPresent() ? version.getAsLong() : null;
  }

  private static @Nullable UUID commit(RecordDataset dataset) {
    return dataset.recordsCommitId().orElse(null);
  }

  /** Returns the positions at which groups are resumed, including those of the validation. */
  long[] bases(List<GroupPlan.Definition> definitions, int trainingCount) {
    if (trainingCount != groups.size()) {
      throw doesNotFit("it has " + groups.size() + " groups, and the feed " + trainingCount);
    }
    long[] bases = new long[definitions.size()];
    for (int i = 0; i < trainingCount; i++) {
      bases[i] = base(groups.get(i), definitions.get(i));
    }
    if (validation != null) {
      int group = trainingCount + validation.group();
      if (group >= definitions.size()) {
        throw doesNotFit("it stands in group " + validation.group()
            + " of the validation, which has " + (definitions.size() - trainingCount));
      }
      bases[group] = base(validation.at(), definitions.get(group));
    }
    return bases;
  }

  private long base(GroupState stored, GroupPlan.Definition now) {
    Long version = version(now.dataset());
    if (!stored.name().equals(now.name())
        || stored.seed() != now.seed()
        || !java.util.Objects.equals(stored.datasetVersion(), version)) {
      throw doesNotFit(
          "group '" + now.name() + "' reads version " + version + " with seed " + now.seed());
    }
    UUID commit = commit(now.dataset());
    if (!java.util.Objects.equals(stored.datasetCommit(), commit)) {
      throw doesNotFit("version " + version + " of group '" + now.name() + "' is commit " + commit
          + " now, and was " + stored.datasetCommit() + " before the table was repaired");
    }
    if (!stored.order().equals(OrderDigest.of(now.order()))) {
      throw doesNotFit("group '" + now.name() + "' is in the order of " + now.orderName()
          + ", and was in that of " + stored.sampler());
    }
    long length = now.order().length();
    if (stored.position() > length) {
      throw doesNotFit("position " + stored.position() + " of group '" + now.name()
          + "' is not in [0, " + length + "]");
    }
    return stored.position();
  }

  void requireAheadFits(FeedPlan plan) {
    if (ahead != null && !ahead.plan().equals(plan.describe())) {
      throw doesNotFit("batches overtook others in '" + ahead.plan() + "', and the feed is '"
          + plan.describe() + "'");
    }
  }

  private IllegalArgumentException doesNotFit(String reason) {
    return new IllegalArgumentException(
        "Cannot resume " + toJson() + ": " + reason
            + "; the order would be another. Resume with the groups, versions, samplers and seeds that were stopped, or start anew");
  }
}
