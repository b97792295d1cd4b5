package io.zrecord.spark

import java.nio.charset.StandardCharsets

import scala.util.Random

import io.zrecord.schema.ElementType

/** Values that are hard to sort. */
object ExtremeValues {

  /** All types that have an order. */
  val types: Seq[(String, ElementType)] = Seq(
    ElementType.BOOL,
    ElementType.I8,
    ElementType.U8,
    ElementType.I16,
    ElementType.U16,
    ElementType.I32,
    ElementType.U32,
    ElementType.I64,
    ElementType.U64,
    ElementType.F16,
    ElementType.BF16,
    ElementType.F32,
    ElementType.F64,
    ElementType.DATE,
    ElementType.TIMESTAMP,
    ElementType.TIMESTAMP_NTZ,
    ElementType.decimal(9, 2),
    ElementType.decimal(18, 6),
    ElementType.decimal(38, 10),
    ElementType.BYTES,
    ElementType.UTF8
  ).map(kind => kind.toString -> kind)

  /** Values as bytes, including extreme values. */
  def of(kind: ElementType, random: Random): IndexedSeq[Array[Byte]] = {
    def text(value: String) = value.getBytes(StandardCharsets.UTF_8)
    kind.kind() match {
      case ElementType.Kind.BOOL => IndexedSeq(Array[Byte](0), Array[Byte](1))
      case ElementType.Kind.UTF8 =>
        IndexedSeq(
          "",
          "a",
          "a\u0000",
          "aa",
          "aaaaaaaa",
          "aaaaaaaab",
          "ab",
          "b",
          "\uffff",
          "🙂",
          "é"
        )
          .map(text)
      case ElementType.Kind.BYTES =>
        IndexedSeq("", "a", "a\u0000", "a\u0000\u0000b", "aaaaaaaaa").map(text) ++
          Seq(Array[Byte](-1), Array[Byte](-1, 0), Array[Byte](127), Array[Byte](-128))
      case ElementType.Kind.DECIMAL =>
        val largest = new java.math.BigInteger("9" * kind.precision())
        (Seq(largest, largest.negate()) ++ Seq(0L, 1L, -1L, 255L, -256L, 123456789L)
          .map(value => java.math.BigInteger.valueOf(value)))
          .map(value => littleEndian(value, kind.widthBytes().getAsInt))
          .toIndexedSeq
      case _ =>
        val width = kind.widthBytes().getAsInt
        val patterns = Seq(0, 1, 127, 128, 255).map(high =>
          Array.tabulate(width)(i => if (i == width - 1) high.toByte else 0.toByte)
        ) ++ Seq(
          Array.fill(width)(-1: Byte),
          Array.tabulate(width)(i => if (i == 0) 1.toByte else 0.toByte)
        ) ++
          infinities(kind)
        (patterns ++ Seq.fill(9)(randomBytes(random, width))).toIndexedSeq
    }
  }

  /** Infinities and NaNs, with both signs. */
  private def infinities(kind: ElementType): Seq[Array[Byte]] = kind.kind() match {
    case ElementType.Kind.F16 => Seq("007c", "00fc", "017c", "01fe").map(hex)
    case ElementType.Kind.BF16 => Seq("807f", "80ff", "817f", "c0ff").map(hex)
    case ElementType.Kind.F32 => Seq("0000807f", "000080ff", "0100807f", "0000c0ff").map(hex)
    case ElementType.Kind.F64 =>
      Seq("000000000000f07f", "000000000000f0ff", "010000000000f07f", "000000000000f8ff").map(hex)
    case _ => Nil
  }

  private def hex(text: String): Array[Byte] =
    text.grouped(2).map(Integer.parseInt(_, 16).toByte).toArray

  private def randomBytes(random: Random, width: Int): Array[Byte] = {
    val bytes = new Array[Byte](width)
    random.nextBytes(bytes)
    bytes
  }

  private def littleEndian(value: java.math.BigInteger, width: Int): Array[Byte] = {
    val big = value.toByteArray
    val fill: Byte = if (value.signum() < 0) -1 else 0
    Array.tabulate(width)(i => if (i < big.length) big(big.length - 1 - i) else fill)
  }
}
