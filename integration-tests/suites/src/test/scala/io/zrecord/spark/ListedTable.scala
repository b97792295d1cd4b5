package io.zrecord.spark

/** A column of a [[ListedTable]]. Its key stays when the column gets another name. */
case class ListedColumn(key: String, name: String, dataType: String)

/** What a table has in its newest version, as lists. Operations change it as they change a table.
  *
  * @param records
  *   the records in the order of the index: values by the keys of columns, without NULL
  * @param required
  *   the keys of columns that are NOT NULL
  * @param isExpired
  *   whether the first version was expired
  * @param hasOrphan
  *   whether a file is there that no version names
  */
case class ListedTable(
    columns: Seq[ListedColumn],
    records: Seq[Map[String, Any]],
    required: Set[String] = Set.empty,
    properties: Map[String, String] = Map.empty,
    checks: Set[String] = Set.empty,
    tags: Set[String] = Set.empty,
    isExpired: Boolean = false,
    hasOrphan: Boolean = false,
    exists: Boolean = true
) {
  def has(names: Set[String]): Boolean = exists && names.subsetOf(columns.map(_.name).toSet)

  def adding(more: Map[String, Any]*): ListedTable = copy(records = records ++ more)

  def without(condition: Map[String, Any] => Boolean): ListedTable =
    copy(records = records.filterNot(condition))

  /** Gives a column a value in the records that a condition chooses. */
  def setting(key: String, value: Any)(condition: Map[String, Any] => Boolean): ListedTable =
    copy(records =
      records.map(record => if (condition(record)) record + (key -> value) else record)
    )

  def addingColumn(name: String, dataType: String): ListedTable =
    copy(columns = columns :+ ListedColumn(name, name, dataType))

  def dropping(key: String): ListedTable = copy(columns = columns.filterNot(_.key == key))

  def changingColumn(key: String)(change: ListedColumn => ListedColumn): ListedTable =
    copy(columns = columns.map(column => if (column.key == key) change(column) else column))

  /** Returns the same with names for keys and values of the columns' types, to be compared. */
  def shown: ListedTable = {
    val keys = columns.map(column => column.key -> column).toMap
    def typed(column: ListedColumn, value: Any) = (column.dataType, value) match {
      case ("bigint", number: Int) => number.toLong
      case _ => value
    }
    copy(
      columns = columns.map(column => column.copy(key = column.name)),
      records = records.map(_.collect {
        case (key, value) if keys.contains(key) => keys(key).name -> typed(keys(key), value)
      }),
      required = required.flatMap(keys.get).map(_.name)
    )
  }
}

object ListedTable {
  val Absent: ListedTable = ListedTable(Nil, Nil, exists = false)
}
