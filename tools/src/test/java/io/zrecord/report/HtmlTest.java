package io.zrecord.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.jsoup.Jsoup;
import org.jsoup.nodes.Document;
import org.junit.jupiter.api.Test;

/** What can be written, and what cannot. */
final class HtmlTest {
  private final StringBuilder written = new StringBuilder();
  private final Html html = new Html(written);

  @Test
  void textAndAttributesComeBackAsTheyWere() {
    StringBuilder all = new StringBuilder();
    for (int c = 0x20; c < 0x3000; c++) {
      if (!Character.isISOControl(c) && !Html.escaped(Character.toString(c)).startsWith("\\u")) {
        all.append((char) c);
      }
    }
    String text = "x" + all + "😀x";
    html.leaf("p", text, "title", text);
    Document parsed = Jsoup.parseBodyFragment(written.toString());
    assertThat(parsed.select("p").first().wholeText()).isEqualTo(text);
    assertThat(parsed.select("p").attr("title")).isEqualTo(text);
    assertThat(parsed.body().childrenSize()).isEqualTo(1);
  }

  @Test
  void hostileTextStaysText() {
    html.leaf("p", ReportData.HOSTILE, "title", ReportData.HOSTILE);
    Document parsed = Jsoup.parseBodyFragment(written.toString());
    assertThat(parsed.body().getAllElements().eachText()).hasSize(2);
    assertThat(parsed.select("p").first().attributes().size()).isEqualTo(1);
    assertThat(parsed.text()).contains("<script>window.pwned=1</script>");
  }

  @Test
  void whatHidesOrTurnsTextIsMadeVisible() {
    assertThat(Html.escaped("a\u0000\u001b\u202eb\u2066\u200f"))
        .isEqualTo("a\\u0000\\u001b\\u202eb\\u2066\\u200f");
    assertThat(Html.escaped("\ud800x\n\t")).isEqualTo("\ufffdx\n\t");
  }

  @Test
  void nothingThatRunsOrLoadsCanBeWritten() {
    for (String tag :
        new String[] {"script", "iframe", "a", "link", "style", "img", "P", "p ", ""}) {
      assertThatThrownBy(() -> html.start(tag)).isInstanceOf(IllegalArgumentException.class);
    }
    for (String name : new String[] {"onclick", "style", "href", "src", "xlink:href", "class x"}) {
      assertThatThrownBy(() -> html.start("p", name, "x"))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}
