package io.zrecord.spark.rules;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.parser.ParserInterface;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import scala.Function1;

/**
 * Lets rules see the plan of a statement before its tables are found, in a session with the support
 * of Hive, as that of {@code spark-sql} and of the Thrift server. Spark does not run there what is
 * injected for this. Releases differ in the methods of the interface. Thread-safe.
 */
public final class EarlyParser implements InvocationHandler {
  private static final String IMPLEMENTATION = "spark.sql.catalogImplementation";

  private final SparkSession session;
  private final ParserInterface parser;
  private final List<Function1<SparkSession, Rule<LogicalPlan>>> rules;

  private EarlyParser(
      SparkSession session,
      ParserInterface parser,
      List<Function1<SparkSession, Rule<LogicalPlan>>> rules) {
    this.session = session;
    this.parser = parser;
    this.rules = rules;
  }

  /** Returns the parser of a session, which is another one if the session needs it. */
  public static ParserInterface of(
      SparkSession session,
      ParserInterface parser,
      List<Function1<SparkSession, Rule<LogicalPlan>>> rules) {
    boolean hasHive =
        session.sparkContext().getConf().get(IMPLEMENTATION, "in-memory").equals("hive");
    return hasHive
        ? (ParserInterface) Proxy.newProxyInstance(
            EarlyParser.class.getClassLoader(),
            new Class<?>[] {ParserInterface.class},
            new EarlyParser(session, parser, rules))
        : parser;
  }

  @Override
  public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
    Object result;
    try {
      result = method.invoke(parser, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
    return result instanceof LogicalPlan plan && method.getName().startsWith("parsePlan")
        ? ruled(plan)
        : result;
  }

  /**
   * Applies the rules. A parser may not say that a table is missing: Spark finds out when it looks
   * for the table.
   */
  private LogicalPlan ruled(LogicalPlan parsed) {
    LogicalPlan plan = parsed;
    for (Function1<SparkSession, Rule<LogicalPlan>> rule : rules) {
      try {
        plan = rule.apply(session).apply(plan);
      } catch (Exception e) { // Spark throws checked exceptions that it does not declare.
        if (!(e instanceof AnalysisException)) {
          throw e;
        }
      }
    }
    return plan;
  }
}
