package io.zrecord.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.logging.Level;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

/**
 * The page in Chromium. Run by {@code engine/browser-test}, which sees to it that there is one: its
 * name keeps it out of the other tests. Leaves screenshots in {@code target/report}.
 */
final class ReportInBrowser {
  private static final Path PAGES = Path.of("target/report");
  private static final ObjectMapper JSON = new ObjectMapper();
  private static ChromeDriver driver;

  @TempDir
  Path directory;

  @BeforeAll
  static void start() throws IOException {
    Files.createDirectories(PAGES);
    LoggingPreferences logs = new LoggingPreferences();
    logs.enable(LogType.BROWSER, Level.ALL);
    logs.enable(LogType.PERFORMANCE, Level.ALL);
    ChromeOptions options = new ChromeOptions();
    options.setBinary(executable("ZRECORD_CHROMIUM", "/usr/bin/chromium"));
    options.addArguments(
        "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu");
    options.setCapability("goog:loggingPrefs", logs);
    driver = new ChromeDriver(
        new ChromeDriverService.Builder()
            .usingDriverExecutable(
                new File(executable("ZRECORD_CHROMEDRIVER", "/usr/bin/chromedriver")))
            .withTimeout(Duration.ofMinutes(2))
            .build(),
        options);
  }

  private static String executable(String variable, String usual) {
    return Optional.ofNullable(System.getenv(variable)).orElse(usual);
  }

  @AfterAll
  static void stop() {
    if (driver != null) {
      driver.quit();
    }
  }

  private static Path report(Path dataset, String name, int records) throws IOException {
    Path file = PAGES.resolve(name + ".html").toAbsolutePath();
    Files.deleteIfExists(file);
    DatasetReport.of(dataset.toString()).records(records).write(file);
    return file;
  }

  private static void show(Path page, int width, String scheme) {
    driver.executeCdpCommand(
        "Emulation.setEmulatedMedia",
        Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", scheme))));
    driver.executeCdpCommand(
        "Emulation.setDeviceMetricsOverride",
        Map.of("width", width, "height", 900, "deviceScaleFactor", 1, "mobile", false));
    driver.get(page.toUri().toString());
  }

  /**
   * What the page did that a report never does: errors, violations of its policy, requests. Looks
   * at what happened since the last call.
   */
  private static List<String> misdeeds() throws IOException {
    List<String> found = new ArrayList<>();
    for (LogEntry entry : driver.manage().logs().get(LogType.BROWSER)) {
      found.add("console: " + entry.getMessage());
    }
    for (LogEntry entry : driver.manage().logs().get(LogType.PERFORMANCE)) {
      JsonNode message = JSON.readTree(entry.getMessage()).path("message");
      if (message.path("method").asText().equals("Network.requestWillBeSent")) {
        JsonNode parameters = message.path("params");
        String url = parameters.path("request").path("url").asText();
        boolean isPage = parameters.path("type").asText().equals("Document");
        if (!isPage && !url.startsWith("data:")) {
          found.add("request: " + url);
        }
      }
    }
    return found;
  }

  private static long number(String script) {
    return ((Number) driver.executeScript("return " + script)).longValue();
  }

  /**
   * Takes a screenshot of the whole page in every width and scheme, and checks that nothing runs
   * over the side.
   */
  private static void showEverywhere(Path page, String name) throws IOException {
    for (String scheme : List.of("light", "dark")) {
      for (int width : List.of(1280, 390)) {
        show(page, width, scheme);
        assertThat(misdeeds()).isEmpty();
        assertThat(number("document.documentElement.scrollWidth"))
            .as("%s, %s, %s", name, width, scheme)
            .isLessThanOrEqualTo(number("document.documentElement.clientWidth"));
        assertThat(number("document.documentElement.clientWidth"))
            .isBetween(width - 20L, (long) width);
        assertThat(driver.executeScript("return getComputedStyle(document.body).backgroundColor"))
            .isEqualTo(scheme.equals("light") ? "rgb(255, 255, 255)" : "rgb(20, 24, 28)");
        long height = Math.min(6000, number("document.documentElement.scrollHeight"));
        driver.executeCdpCommand(
            "Emulation.setDeviceMetricsOverride",
            Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
        Files.write(
            PAGES.resolve(name + "-" + scheme + "-" + width + ".png"),
            driver.getScreenshotAs(OutputType.BYTES));
      }
    }
  }

  @Test
  void cellsAndImagesAreSeen() throws IOException {
    Path table = directory.resolve("gallery");
    ReportData.gallery(table);
    long chunks =
        ReportData.chunkCounts(table).stream().mapToLong(Integer::longValue).sum();
    Path page = report(table, "gallery", ReportData.GALLERY_RECORDS);
    show(page, 1280, "light");
    assertThat(misdeeds()).isEmpty();
    assertThat(number("document.querySelectorAll('.group .cells li').length")).isEqualTo(chunks);
    assertThat(number(
            "[...document.querySelectorAll('.group .cells li')].map(cell => cell.getBoundingClientRect())"
                + ".filter(box => box.width >= 8 && box.height >= 8).length"))
        .isEqualTo(chunks);
    assertThat(number("new Set([...document.querySelectorAll('.legend .cells li')]"
            + ".slice(0, 11).map(cell => getComputedStyle(cell).backgroundColor)).size"))
        .isEqualTo(11);
    assertThat(number("document.images.length")).isEqualTo(ReportData.GALLERY_IMAGES);
    assertThat(
            number(
                "[...document.images].filter(image => image.complete && image.naturalWidth > 0).length"))
        .isEqualTo(ReportData.GALLERY_IMAGES);
    assertThat(number(
            "[...document.querySelectorAll('.bar rect')].filter(bar => bar.getBoundingClientRect().width > 0"
                + " && bar.getBoundingClientRect().height > 0).length"))
        .isGreaterThan(10);
  }

  @Test
  void hostileContentsAreShownAsText() throws IOException {
    Path table =
        directory.resolve("<script>alert(1)<").resolve("script><img src=x onerror=alert(1)>");
    ReportData.hostile(table);
    Path page = report(table, "hostile", 10);
    showEverywhere(page, "hostile");
    assertThat(number("document.scripts.length")).isZero();
    assertThat(driver.executeScript("return typeof window.pwned")).isEqualTo("undefined");
    assertThat((String) driver.executeScript("return document.body.innerText"))
        .contains("<script>window.pwned=1</script>")
        .contains("<svg onload=window.pwned=3>")
        .contains("\\u202etxt.exe");
  }

  @Test
  void aWornTableFitsEveryScreen() throws IOException {
    Path table = directory.resolve("worn");
    ReportData.worn(table, directory.resolve("store"), 120, 6);
    Path page = report(table, "worn", 12);
    showEverywhere(page, "worn");
    assertThat(number("document.querySelectorAll('.order tbody td').length")).isEqualTo(7L * 6);
    assertThat(number("new Set([...document.querySelectorAll('.group .cells li')]"
            + ".map(cell => getComputedStyle(cell).backgroundColor)).size"))
        .isGreaterThan(4);
  }

  @Test
  void paperIsWhite() throws IOException {
    Path table = directory.resolve("gallery");
    ReportData.gallery(table);
    show(report(table, "paper", 6), 1000, "dark");
    driver.executeCdpCommand(
        "Emulation.setEmulatedMedia",
        Map.of(
            "media",
            "print",
            "features",
            List.of(Map.of("name", "prefers-color-scheme", "value", "dark"))));
    assertThat(driver.executeScript("return getComputedStyle(document.body).backgroundColor"))
        .isEqualTo("rgb(255, 255, 255)");
    assertThat(number("document.documentElement.scrollWidth")).isLessThanOrEqualTo(1000);
    Object pdf = driver
        .executeCdpCommand("Page.printToPDF", Map.of("printBackground", true))
        .get("data");
    Files.write(PAGES.resolve("paper.pdf"), Base64.getDecoder().decode((String) pdf));
    driver.executeCdpCommand("Emulation.setEmulatedMedia", Map.of("media", ""));
    assertThat(misdeeds()).isEmpty();
  }

  @Test
  void whatAReportMustNotDoWouldBeSeen() throws IOException {
    Path page = PAGES.resolve("control.html").toAbsolutePath();
    Files.writeString(
        page,
        "<!DOCTYPE html><meta http-equiv='Content-Security-Policy' content=\"default-src 'none'\">"
            + "<script>window.pwned = 1</script>");
    show(page, 1280, "light");
    assertThat(misdeeds()).anyMatch(text -> text.contains("Content Security Policy"));
    Files.writeString(
        page,
        "<!DOCTYPE html><title>x</title><img src='http://127.0.0.1:9/x.png'>"
            + "<script>window.pwned = 1; console.error('seen')</script><p style='width:2000px'>x");
    show(page, 1280, "light");
    assertThat(misdeeds())
        .anyMatch(text -> text.startsWith("request: http://127.0.0.1:9/"))
        .anyMatch(text -> text.contains("seen"));
    assertThat(number("window.pwned")).isEqualTo(1);
    assertThat(number("document.documentElement.scrollWidth"))
        .isGreaterThan(number("document.documentElement.clientWidth"));
  }
}
