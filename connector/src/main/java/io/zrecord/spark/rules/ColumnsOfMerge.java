package io.zrecord.spark.rules;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeRows;

/**
 * Finds the columns that every update of a {@code MERGE} leaves as they are, and puts constants in
 * their place. Columns of inserted rows stay. Belongs to one thread.
 */
final class ColumnsOfMerge {
  private static final String OPERATION = "__row_operation";
  private static final int UPDATE = 2;

  private final MergeRows rows;
  private final Map<String, AttributeReference> stored;
  private final List<Attribute> columns;

  /** @param stored the columns as the statement's scan has them, by name */
  ColumnsOfMerge(MergeRows rows, Map<String, AttributeReference> stored) {
    this.rows = rows;
    this.stored = stored;
    this.columns = PlanNodes.output(rows);
  }

  /** Returns the names of the columns that an expression above the merge looks at. */
  Set<String> namesIn(Expression expression) {
    Set<Object> ids = new HashSet<>();
    for (Attribute attribute : ScalaLists.copy(expression.references(), Attribute.class)) {
      ids.add(attribute.exprId());
    }
    Set<String> names = new HashSet<>();
    columns.stream()
        .filter(column -> ids.contains(column.exprId()))
        .forEach(column -> names.add(column.name()));
    return names;
  }

  /**
   * Returns the merge with constants.
   *
   * @param lookedAt names of columns whose values are needed above
   * @param unchanged gets the names of the columns that no update changes
   */
  LogicalPlan narrowed(Set<String> lookedAt, Set<String> unchanged) {
    Set<Expression> updates = updates();
    if (updates.isEmpty()) {
      unchanged.addAll(stored.keySet());
      return rows;
    }
    Set<String> same = new TreeSet<>(stored.keySet());
    updates.forEach(update -> same.retainAll(unchangedBy(update)));
    unchanged.addAll(same);
    Set<String> replaced = new TreeSet<>(same);
    replaced.removeAll(lookedAt);
    return rows.mapExpressions(
        ColumnsOfRowChanges.function(expression -> updates.contains(expression)
            ? withConstants((Expression) expression, replaced)
            : expression));
  }

  /** Returns the names of the columns that some updates change, and others leave as they are. */
  Set<String> partlyAssigned() {
    Set<String> kept = new TreeSet<>();
    Set<String> changed = new TreeSet<>();
    for (Expression update : updates()) {
      Set<String> same = unchangedBy(update);
      kept.addAll(same);
      stored.keySet().stream().filter(name -> !same.contains(name)).forEach(changed::add);
    }
    kept.retainAll(changed);
    return kept;
  }

  /** Returns the names of the columns of the rows. */
  List<String> names() {
    return columns.stream().map(Attribute::name).toList();
  }

  /** Returns the instructions that update a record. */
  Set<Expression> updates() {
    int operation = indexOf(OPERATION);
    Set<Expression> updates = Collections.newSetFromMap(new IdentityHashMap<>());
    for (String instructions : List.of("matchedInstructions", "notMatchedBySourceInstructions")) {
      for (Expression instruction :
          ScalaLists.copy(PlanNodes.called(rows, instructions), Expression.class)) {
        switch (instruction.getClass().getSimpleName()) {
          case "Keep" -> {
            if (output(instruction).get(operation) instanceof Literal literal
                && literal.value().equals(UPDATE)) {
              updates.add(instruction);
            }
          }
          case "Discard" -> {}
          default -> throw new IllegalStateException("A merge has the instruction " + instruction);
        }
      }
    }
    return updates;
  }

  private int indexOf(String name) {
    for (int i = 0; i < columns.size(); i++) {
      if (columns.get(i).name().equals(name)) {
        return i;
      }
    }
    throw new IllegalStateException("A merge has no column " + name);
  }

  /**
   * Returns the values that an instruction gives to the columns of a row, and after them others:
   * Spark 3.5 repeats metadata columns that a statement names.
   */
  static List<Expression> output(Expression keep) {
    return ScalaLists.copy(PlanNodes.called(keep, "output"), Expression.class);
  }

  private Set<String> unchangedBy(Expression update) {
    List<Expression> output = output(update);
    Set<String> names = new HashSet<>();
    for (int i = 0; i < columns.size(); i++) {
      AttributeReference kept = stored.get(columns.get(i).name());
      if (kept != null && ColumnsOfRowChanges.isTheSame(output.get(i), kept)) {
        names.add(kept.name());
      }
    }
    return names;
  }

  private Expression withConstants(Expression update, Set<String> replaced) {
    List<Expression> output = new ArrayList<>(output(update));
    for (int i = 0; i < columns.size(); i++) {
      AttributeReference column = stored.get(columns.get(i).name());
      if (column != null && replaced.contains(column.name())) {
        Optional<Expression> filler = Fillers.of(column);
        if (filler.isPresent()) {
          output.set(i, filler.get());
        }
      }
    }
    return PlanNodes.copy(update, Map.of(update.productArity() - 1, ScalaLists.of(output)));
  }
}
