package io.zrecord.spark.scan;

import io.zrecord.read.IndexSet;
import io.zrecord.spark.column.MetadataColumns;
import java.util.Optional;
import java.util.Set;
import org.apache.spark.sql.connector.expressions.Expression;
import org.apache.spark.sql.connector.expressions.Literal;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.expressions.filter.Predicate;

/**
 * Turns conditions into the sets of places for which they are true and false. Conditions on the
 * metadata columns with a row's place, on that with a row's shard, and on partition columns, are
 * decided exactly. Others narrow nothing down, so that a condition with parts of both kinds is
 * narrowed down by one of them.
 */
final class PlacePredicates {
  private final Set<String> columns;
  private final Optional<ShardStarts> shards;
  private final PartitionConditions partitions;
  private final long length;

  /** Creates the evaluator for the places of an order. */
  PlacePredicates(ScanOrder order, PartitionPlaces partitions) {
    this(
        order.placeColumns(),
        order.shardStarts(),
        partitions,
        new PartitionList.Cache(),
        order.length());
  }

  /** Creates the evaluator of conditions on partitions alone. */
  PlacePredicates(PartitionPlaces partitions, PartitionList.Cache lists) {
    this(Set.of(), Optional.empty(), partitions, lists, partitions.length());
  }

  private PlacePredicates(
      Set<String> columns,
      Optional<ShardStarts> shards,
      PartitionPlaces partitions,
      PartitionList.Cache lists,
      long length) {
    this.columns = columns;
    this.shards = shards;
    this.partitions = new PartitionConditions(partitions, lists);
    this.length = length;
  }

  /** Returns the places for which the predicate is, or may be, true and false. */
  Truth evaluate(Predicate predicate) {
    Expression[] children = predicate.children();
    return switch (predicate.name()) {
      case "ALWAYS_TRUE" -> exact(all());
      case "ALWAYS_FALSE" -> exact(IndexSet.empty());
      case "AND" -> evaluateChild(children[0]).and(evaluateChild(children[1]));
      case "OR" -> evaluateChild(children[0]).or(evaluateChild(children[1]));
      case "NOT" -> evaluateChild(children[0]).not();
      default ->
        ofPlaces(predicate)
            .map(this::exact)
            .or(() -> partitions.evaluate(predicate))
            .orElseGet(() -> Truth.unknown(length));
    };
  }

  private Truth exact(IndexSet holds) {
    return Truth.of(holds, length);
  }

  private Truth evaluateChild(Expression child) {
    return child instanceof Predicate predicate ? evaluate(predicate) : Truth.unknown(length);
  }

  /** Returns where a condition on a place or a shard, which is never null, is true. */
  private Optional<IndexSet> ofPlaces(Predicate predicate) {
    Expression[] children = predicate.children();
    return switch (predicate.name()) {
      case "IS_NOT_NULL" ->
        isPlace(children[0]) || isShard(children[0]) ? Optional.of(all()) : Optional.empty();
      case "IS_NULL" ->
        isPlace(children[0]) || isShard(children[0])
            ? Optional.of(IndexSet.empty())
            : Optional.empty();
      case "IN" -> in(children);
      case "=", "<=>", "<>", "<", "<=", ">", ">=" -> compare(predicate.name(), children);
      default -> Optional.empty();
    };
  }

  private IndexSet all() {
    return IndexSet.range(0, length);
  }

  private Optional<IndexSet> in(Expression[] children) {
    if (!isPlace(children[0]) && !isShard(children[0])) {
      return Optional.empty();
    }
    long[] places = new long[children.length - 1];
    int count = 0;
    for (int i = 1; i < children.length; i++) {
      Optional<Long> value = number(children[i]);
      if (value.isEmpty()) {
        // Something else, or null: NOT IN is never true then, which a set cannot express.
        return Optional.empty();
      }
      if (value.get() >= 0 && value.get() < length) {
        places[count++] = value.get();
      }
    }
    IndexSet named = IndexSet.of(java.util.Arrays.copyOf(places, count));
    return Optional.of(isPlace(children[0]) ? named : ofShards(named));
  }

  private Optional<IndexSet> compare(String operator, Expression[] children) {
    if (isPlace(children[0])) {
      return number(children[1]).map(value -> compare(operator, value));
    }
    if (isPlace(children[1])) {
      return number(children[0]).map(value -> compare(mirrored(operator), value));
    }
    if (isShard(children[0])) {
      return number(children[1]).map(value -> ofShards(compare(operator, value)));
    }
    if (isShard(children[1])) {
      return number(children[0]).map(value -> ofShards(compare(mirrored(operator), value)));
    }
    return Optional.empty();
  }

  /** Returns all records of the shards whose first record is in a set. */
  private IndexSet ofShards(IndexSet firsts) {
    return shards.orElseThrow().where(firsts::contains);
  }

  private IndexSet compare(String operator, long value) {
    long next = value == Long.MAX_VALUE ? value : value + 1;
    return switch (operator) {
      case "=", "<=>" -> within(value, next);
      case "<>" -> within(value, next).complement(length);
      case "<" -> within(0, value);
      case "<=" -> within(0, next);
      case ">" -> within(next, length);
      case ">=" -> within(value, length);
      default -> throw new IllegalArgumentException("Unknown comparison " + operator);
    };
  }

  private IndexSet within(long from, long to) {
    return IndexSet.range(Math.max(0, from), Math.min(length, Math.max(0, to)));
  }

  /** Returns the comparison that is the same with its sides exchanged. */
  static String mirrored(String operator) {
    return switch (operator) {
      case "<" -> ">";
      case "<=" -> ">=";
      case ">" -> "<";
      case ">=" -> "<=";
      default -> operator;
    };
  }

  private boolean isPlace(Expression expression) {
    return expression instanceof NamedReference reference
        && reference.fieldNames().length == 1
        && columns.contains(reference.fieldNames()[0]);
  }

  private boolean isShard(Expression expression) {
    return shards.isPresent()
        && expression instanceof NamedReference reference
        && reference.fieldNames().length == 1
        && reference.fieldNames()[0].equals(MetadataColumns.SHARD);
  }

  private static Optional<Long> number(Expression expression) {
    if (expression instanceof Literal<?> literal) {
      Object value = literal.value();
      if (value instanceof Long
          || value instanceof Integer
          || value instanceof Short
          || value instanceof Byte) {
        return Optional.of(((Number) value).longValue());
      }
    }
    return Optional.empty();
  }
}
