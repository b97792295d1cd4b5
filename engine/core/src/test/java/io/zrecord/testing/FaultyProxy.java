package io.zrecord.testing;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Predicate;

/**
 * An HTTP/1.1 proxy before one server, which counts requests and injects {@link HttpFault}s. Hands
 * on each request with the host that the client named, so that signatures hold. Keeps whole
 * messages in memory. Thread-safe.
 */
public final class FaultyProxy implements AutoCloseable {
  private final URI server;
  private final ServerSocket listener;
  private final Set<Socket> clients = ConcurrentHashMap.newKeySet();
  private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
    Thread thread = new Thread(task, "faulty-proxy");
    thread.setDaemon(true);
    return thread;
  });

  private final List<HttpRequest> requests = new ArrayList<>();
  private final List<Rule> rules = new ArrayList<>();
  private int faults;
  private long connections;
  private long responseBytes;

  private static final class Rule {
    final Predicate<HttpRequest> requests;
    final HttpFault fault;
    int times;

    Rule(Predicate<HttpRequest> requests, HttpFault fault, int times) {
      this.requests = requests;
      this.fault = fault;
      this.times = times;
    }
  }

  private FaultyProxy(URI server) throws IOException {
    this.server = server;
    listener = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
    threads.execute(this::accept);
  }

  /** Starts a proxy before a server, such as {@code http://127.0.0.1:9000}. */
  public static FaultyProxy before(URI server) throws IOException {
    return new FaultyProxy(server);
  }

  /** Returns where clients reach the proxy. */
  public URI endpoint() {
    return URI.create("http://127.0.0.1:" + listener.getLocalPort());
  }

  /**
   * Adds a fault for requests that match. The first rule that matches a request takes it.
   *
   * @param times how many requests get the fault
   */
  public synchronized void inject(int times, Predicate<HttpRequest> matching, HttpFault fault) {
    rules.add(new Rule(matching, fault, times));
  }

  /**
   * Adds faults at random: which requests get one, and which, depends on the seed and the order.
   */
  public void injectAtRandom(long seed, double share, List<HttpFault> faults) {
    Random random = new Random(seed);
    inject(
        Integer.MAX_VALUE,
        request -> random.nextDouble() < share,
        exchange -> pick(random, faults).answer(exchange));
  }

  private synchronized HttpFault pick(Random random, List<HttpFault> faults) {
    return faults.get(random.nextInt(faults.size()));
  }

  /** Removes all faults, and counts from 0 again. */
  public synchronized void heal() {
    rules.clear();
    requests.clear();
    faults = 0;
    connections = 0;
    responseBytes = 0;
  }

  /** Returns the requests since the last {@link #heal}, in the order of their arrival. */
  public synchronized List<HttpRequest> requests() {
    return List.copyOf(requests);
  }

  /** Returns how many requests got a fault since the last {@link #heal}. */
  public synchronized int faults() {
    return faults;
  }

  /** Returns the bytes of bodies that the server answered with since the last {@link #heal}. */
  public synchronized long responseBytes() {
    return responseBytes;
  }

  /** Returns how many connections clients opened since the last {@link #heal}. */
  public synchronized long connections() {
    return connections;
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket client = listener.accept();
        clients.add(client);
        synchronized (this) {
          connections++;
        }
        threads.execute(() -> serve(client));
      } catch (SocketException e) {
        // The proxy is closed, most likely.
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private void serve(Socket client) {
    try (client) {
      client.setTcpNoDelay(true);
      BufferedInputStream in = new BufferedInputStream(client.getInputStream());
      for (boolean goesOn = true; goesOn; ) {
        Optional<HttpMessage> head = HttpMessage.readHead(in);
        if (head.isEmpty()) {
          return;
        }
        HttpExchange exchange = new HttpExchange(server, client, in, head.get(), this::count);
        exchange.arrive(this::number);
        fault(exchange.request()).answer(exchange);
        goesOn = exchange.goesOn();
      }
    } catch (IOException e) {
      // The client or the server went away, which closes both connections.
    } finally {
      clients.remove(client);
    }
  }

  private synchronized HttpRequest number(String method, String target, String range) {
    HttpRequest request = new HttpRequest(method, target, range, requests.size());
    requests.add(request);
    return request;
  }

  private synchronized HttpFault fault(HttpRequest request) {
    for (Rule rule : rules) {
      if (rule.times > 0 && rule.requests.test(request)) {
        rule.times--;
        faults++;
        return rule.fault;
      }
    }
    return HttpFault.none();
  }

  private synchronized void count(long bytes) {
    responseBytes += bytes;
  }

  @Override
  public void close() throws IOException {
    listener.close();
    for (Socket client : clients) {
      client.close();
    }
    threads.shutdownNow();
  }
}
