package io.zrecord.spark

import java.io.Writer

import org.apache.logging.log4j.{Level, LogManager}
import org.apache.logging.log4j.core.LoggerContext
import org.apache.logging.log4j.core.appender.WriterAppender
import org.apache.logging.log4j.core.layout.PatternLayout

/** What this process logs while it does something. */
object CapturedLogs {

  /** Does something, and writes the messages from a level on, of all loggers. */
  def at(level: Level, text: Writer)(action: => Unit): Unit = {
    val context = LogManager.getContext(false).asInstanceOf[LoggerContext]
    val root = context.getConfiguration.getRootLogger
    val appender = WriterAppender.createAppender(
      PatternLayout.createDefaultLayout(),
      null,
      text,
      "captured",
      false,
      true
    )
    appender.start()
    val before = root.getLevel
    root.addAppender(appender, null, null)
    root.setLevel(level)
    context.updateLoggers()
    try action
    finally {
      root.setLevel(before)
      root.removeAppender(appender.getName)
      context.updateLoggers()
    }
  }
}
