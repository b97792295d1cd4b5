package io.zrecord.spark

import java.lang.reflect.{InvocationHandler, InvocationTargetException, Method, Proxy}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.catalog.{ExternalCatalog, ExternalCatalogWithListener}

/** A metastore that refuses one of its methods. */
object RefusingMetastore {

  /** Runs an action while the metastore of a session refuses a method. */
  def during[T](spark: SparkSession, method: String = "alterTable")(action: => T): T =
    failing(spark, method, _ => true) {
      new UnsupportedOperationException(s"the metastore refuses $method")
    }(action)

  /** Runs an action while a method fails for some first arguments. */
  def failing[T](spark: SparkSession, method: String, isRefused: AnyRef => Boolean)(
      failure: => Throwable
  )(action: => T): T = {
    // Spark hides this from the compiler.
    val shared = classOf[SparkSession].getMethod("sharedState").invoke(spark)
    val catalog = shared.getClass
      .getMethod("externalCatalog")
      .invoke(shared)
      .asInstanceOf[ExternalCatalogWithListener]
    val real = catalog.unwrapped
    replace(catalog, refusing(real, method, isRefused, failure))
    try action
    finally replace(catalog, real)
  }

  private def replace(catalog: ExternalCatalogWithListener, delegate: ExternalCatalog): Unit = {
    val field = classOf[ExternalCatalogWithListener].getDeclaredField("delegate")
    field.setAccessible(true)
    field.set(catalog, delegate)
  }

  private def refusing(
      real: ExternalCatalog,
      refused: String,
      isRefused: AnyRef => Boolean,
      failure: => Throwable
  ): ExternalCatalog =
    Proxy
      .newProxyInstance(
        getClass.getClassLoader,
        Array(classOf[ExternalCatalog]),
        new InvocationHandler {
          override def invoke(proxy: AnyRef, method: Method, arguments: Array[AnyRef]): AnyRef =
            if (method.getName == refused && isRefused(arguments(0))) throw failure
            else
              try method.invoke(real, Option(arguments).getOrElse(Array.empty[AnyRef]): _*)
              catch { case e: InvocationTargetException => throw e.getCause }
        }
      )
      .asInstanceOf[ExternalCatalog]
}
