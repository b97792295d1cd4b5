package io.zrecord.feed;

/** Lists what a loader thread does in turn. */
enum Stage {
  START("runs the start hook"),
  WAIT("waits for room: all batches are loaded, or held by the consumer"),
  RESERVE("waits for bytes: batches alive have as many as maxBytes allows"),
  SAMPLE("asks the sampler"),
  READ("reads values"),
  DECODE("decodes values"),
  TRANSFORM("transforms records"),
  COLLATE("pads values"),
  PLACE("hands a batch to the sink"),
  DELIVER("hands a batch to the consumer"),
  END("has ended");

  private final String words;

  Stage(String words) {
    this.words = words;
  }

  String words() {
    return words;
  }
}
