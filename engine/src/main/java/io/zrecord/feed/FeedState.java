package io.zrecord.feed;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.zrecord.sampler.Sampler;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Where a training stands: all that is stored to resume it, with other numbers of threads, ranks and batches alive, and other batch sizes.
 * Positions are those of the order of all ranks: every rank has the same state after the same number of batches.
 *
 * @param epoch from 0
 * @param batch batches of the training that were delivered, from its very beginning
 * @param groups where each group of the training stands in its epoch
 * @param validation where the pass stands that is under way; null: none is
 * @param ahead what was delivered beyond; null: nothing, as always in a feed in order
 */
public record FeedState(
    long epoch,
    long batch,
    List<GroupState> groups,
    @Nullable ValidationState validation,
    @Nullable Ahead ahead) {
  private static final int FORMAT = 1;
  private static final int MAX_CHARACTERS = 1 << 20;
  private static final ObjectMapper JSON = JsonMapper.builder()
      .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
      .build();

  /**
   * A group of the training.
   *
   * @param name of the group
   * @param datasetVersion version of its table; null for a shard standing alone
   * @param seed of its sampler
   * @param position positions of the epoch that all ranks together have consumed
   */
  public record GroupState(String name, @Nullable Long datasetVersion, long seed, long position) {
    public GroupState {
      if (position < 0) {
        throw new IllegalArgumentException("Cannot make a state of group '" + name
            + "' at position " + position + ": it must be 0 or more");
      }
    }
  }

  /**
   * A pass of the validation.
   *
   * @param group of the validation, from 0
   * @param position positions of the group that all ranks together have consumed
   */
  public record ValidationState(int group, long position) {}

  /**
   * Batches that overtook others.
   *
   * @param worldSize ranks that there were
   * @param batchSizes of all groups
   * @param batches that were delivered, counted from the state: 1 is the one after the next
   */
  public record Ahead(long worldSize, List<Integer> batchSizes, List<Long> batches) {
    public Ahead {
      batchSizes = List.copyOf(batchSizes);
      batches = List.copyOf(batches);
    }
  }

  /** As it stands in a file. */
  private record Document(
      int format,
      long epoch,
      long batch,
      @Nullable List<GroupState> groups,
      @Nullable ValidationState validation,
      @Nullable Ahead ahead) {}

  public FeedState {
    groups = List.copyOf(groups);
    if (epoch < 0 || batch < 0) {
      throw new IllegalArgumentException("Cannot make a state of epoch " + epoch + " and batch "
          + batch + ": none may be negative");
    }
  }

  /** One line of JSON with a format version. */
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

  /** The state at a cursor. */
  static FeedState of(FeedPlan plan, Cursor cursor, List<Long> ahead) {
    List<GroupState> groups = new ArrayList<>();
    for (int i = 0; i < plan.trainingCount(); i++) {
      GroupPlan group = plan.group(i);
      OptionalLong version = group.dataset().version();
      groups.add(new GroupState(
          group.name(),
          version.isPresent() ? version.getAsLong() : null,
          group.seed(),
          position(plan, cursor, i)));
    }
    ValidationState validation = null;
    if (cursor.isValidating()) {
      int group = cursor.validationGroup();
      validation = new ValidationState(group - plan.trainingCount(), position(plan, cursor, group));
    }
    Ahead overtakers = ahead.isEmpty()
        ? null
        : new Ahead(plan.group(0).worldSize(), batchSizes(plan.groups()), ahead);
    return new FeedState(cursor.epoch(), cursor.batch(), groups, validation, overtakers);
  }

  private static long position(FeedPlan plan, Cursor cursor, int group) {
    return plan.group(group).globalPosition(cursor.base(group), cursor.position(group));
  }

  static List<Integer> batchSizes(List<GroupPlan> groups) {
    return groups.stream().map(GroupPlan::batchSize).toList();
  }

  /** The positions to resume the groups at, those of the validation included. */
  long[] bases(List<GroupPlan.Definition> definitions, int trainingCount) {
    requireFits(definitions.subList(0, trainingCount));
    long[] bases = new long[definitions.size()];
    for (int i = 0; i < trainingCount; i++) {
      bases[i] = groups.get(i).position();
    }
    if (validation != null) {
      if (validation.group() < 0 || validation.group() >= definitions.size() - trainingCount) {
        throw doesNotFit("it stands in group " + validation.group()
            + " of the validation, which has " + (definitions.size() - trainingCount));
      }
      bases[trainingCount + validation.group()] = validation.position();
    }
    for (int i = 0; i < bases.length; i++) {
      long length = definitions.get(i).order().length();
      if (bases[i] < 0 || bases[i] > length) {
        throw doesNotFit(
            "position " + bases[i] + " of group '" + definitions.get(i).name() + "' is not in [0, "
                + (length == Sampler.ENDLESS ? "∞" : length) + "]");
      }
    }
    return bases;
  }

  private void requireFits(List<GroupPlan.Definition> training) {
    if (training.size() != groups.size()) {
      throw doesNotFit("it has " + groups.size() + " groups, and the feed " + training.size());
    }
    for (int i = 0; i < groups.size(); i++) {
      GroupState stored = groups.get(i);
      GroupPlan.Definition now = training.get(i);
      OptionalLong version = now.dataset().version();
      Long newVersion = version.isPresent() ? version.getAsLong() : null;
      if (!stored.name().equals(now.name())
          || stored.seed() != now.seed()
          || !java.util.Objects.equals(stored.datasetVersion(), newVersion)) {
        throw doesNotFit(
            "group '" + now.name() + "' reads version " + newVersion + " with seed " + now.seed());
      }
    }
  }

  void requireAheadFits(Ranks ranks, List<GroupPlan> plans) {
    if (ahead != null
        && (ahead.worldSize() != ranks.worldSize()
            || !ahead.batchSizes().equals(batchSizes(plans)))) {
      throw doesNotFit("batches overtook others, which can only be resumed with "
          + ahead.worldSize() + " ranks and batches of " + ahead.batchSizes());
    }
  }

  private IllegalArgumentException doesNotFit(String reason) {
    return new IllegalArgumentException(
        "Cannot resume " + toJson() + ": " + reason
            + "; the order would be another. Resume with the groups, versions and seeds that were stopped, or start anew");
  }
}
