package io.zrecord.spark.rules;

import io.zrecord.spark.column.MetadataColumns;
import io.zrecord.spark.path.Unsupported;
import io.zrecord.spark.rows.RowOperation;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeRows;
import org.apache.spark.sql.catalyst.plans.logical.Project;

/** Refuses an assignment to a metadata column, which Spark plans like any other. Stateless. */
final class AssignedMetadata {
  private AssignedMetadata() {}

  /**
   * Looks at the rows of a statement.
   *
   * @throws UnsupportedOperationException if an updated row has another value of a metadata column
   *     than the record
   */
  static void refuse(LogicalPlan query, RowOperation operation) {
    Map<String, AttributeReference> stored = ColumnsOfRowChanges.columns(query, operation);
    stored.keySet().retainAll(MetadataColumns.NAMES);
    if (query instanceof Filter checks) {
      refuse(checks.child(), operation);
    } else if (query instanceof Project project) {
      for (NamedExpression column :
          ScalaLists.copy(PlanNodes.called(project, "projectList"), NamedExpression.class)) {
        refuse(column.name(), (Expression) column, stored);
      }
    } else if (query instanceof MergeRows rows) {
      ColumnsOfMerge merge = new ColumnsOfMerge(rows, stored);
      List<String> names = merge.names();
      for (Expression update : merge.updates()) {
        List<Expression> output = ColumnsOfMerge.output(update);
        for (int i = 0; i < names.size(); i++) {
          refuse(names.get(i), output.get(i), stored);
        }
      }
    }
  }

  private static void refuse(
      String name, Expression value, Map<String, AttributeReference> stored) {
    AttributeReference column = stored.get(name);
    if (column != null && !ColumnsOfRowChanges.isTheSame(value, column)) {
      throw Unsupported.operation(
          "assigning '" + name + "', which says where a record is",
          "assign columns of the table; a relayout changes the order of records");
    }
  }
}
