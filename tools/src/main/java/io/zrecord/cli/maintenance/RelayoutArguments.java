package io.zrecord.cli.maintenance;

import io.zrecord.rebalance.order.Direction;
import io.zrecord.rebalance.order.RecordOrder;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options for another order of the records. Belongs to one thread. */
public final class RelayoutArguments {
  private static final String DESCENDING = ":desc";
  private static final String ASCENDING = ":asc";

  @Option(
      names = "--order-by",
      paramLabel = "FIELD[:desc]",
      description = "field in whose order all records are written, equal ones as they are, absent "
          + "values last; indices change: needs --change-indices")
  private @Nullable String orderBy;

  @Option(
      names = "--shuffle",
      paramLabel = "SEED",
      description =
          "seed of the random order in which all records are written; indices change: needs "
              + "--change-indices")
  private @Nullable Long seed;

  @Option(
      names = "--change-indices",
      description = "allow that indices name other records afterwards")
  private boolean allowsChange;

  boolean allowsChange() {
    return allowsChange;
  }

  /** Tells whether any of these options was given. */
  public boolean isAsked() {
    return orderBy != null || seed != null || allowsChange;
  }

  /** Returns the order; empty unless exactly one was given. */
  Optional<RecordOrder> order() {
    if (orderBy != null && seed == null) {
      return Optional.of(byField(orderBy));
    }
    return orderBy == null && seed != null
        ? Optional.of(RecordOrder.shuffle(seed))
        : Optional.empty();
  }

  private static RecordOrder byField(String argument) {
    if (argument.endsWith(DESCENDING)) {
      return RecordOrder.by(without(argument, DESCENDING), Direction.DESCENDING);
    }
    return RecordOrder.by(
        argument.endsWith(ASCENDING) ? without(argument, ASCENDING) : argument,
        Direction.ASCENDING);
  }

  private static String without(String argument, String suffix) {
    return argument.substring(0, argument.length() - suffix.length());
  }
}
