// Start: SECRET=whsec_… java Receiver.java (Java 17 or later)
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public class Receiver {
  static final Pattern ID = Pattern.compile("\"id\"\\s*:\\s*\"(evt_\\w+)\"");
  static final Pattern TYPE = Pattern.compile("\"type\"\\s*:\\s*\"(payment_link\\.[\\w.]+)\"");

  // In production: a table with a unique key, written in one transaction with your work.
  static final Set<String> seenIds = ConcurrentHashMap.newKeySet();

  // Returns whether the request is genuine. If not, respond with 401.
  // The same webhook can arrive twice. Deduplicate by its id in the body: headers are not signed.
  // raw: the bytes of the body before any parsing.
  static boolean isGenuine(byte[] raw, String timestamp, String signature, String secret)
      throws GeneralSecurityException {
    if (!timestamp.matches("[0-9]{1,12}") || !signature.matches("v1=[0-9a-f]{64}")) return false;
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
    mac.update((timestamp + ".").getBytes(StandardCharsets.US_ASCII));
    String expected = "v1=" + HexFormat.of().formatHex(mac.doFinal(raw));
    boolean isEqual = MessageDigest.isEqual(
        expected.getBytes(StandardCharsets.US_ASCII), signature.getBytes(StandardCharsets.US_ASCII));
    long ageSeconds = Math.abs(Instant.now().getEpochSecond() - Long.parseLong(timestamp));
    return isEqual && ageSeconds <= 300;
  }

  // Returns the header's value, or an empty text if it is missing or was sent twice.
  static String getHeader(HttpExchange exchange, String name) {
    List<String> values = exchange.getRequestHeaders().getOrDefault(name, List.of());
    return values.size() == 1 ? values.get(0) : "";
  }

  // Use your JSON library here. Only the id of a webhook starts with evt_.
  static String find(Pattern pattern, String body) {
    Matcher matcher = pattern.matcher(body);
    return matcher.find() ? matcher.group(1) : "";
  }

  static void receive(HttpExchange exchange) throws IOException {
    try (exchange) {
      byte[] raw = exchange.getRequestBody().readAllBytes();
      String timestamp = getHeader(exchange, "Service-timestamp");
      String signature = getHeader(exchange, "Service-signature");
      boolean isGenuine = isGenuine(raw, timestamp, signature, System.getenv("SECRET"));
      String body = new String(raw, StandardCharsets.UTF_8);
      if (isGenuine && seenIds.add(find(ID, body))) System.out.println(find(TYPE, body));
      exchange.sendResponseHeaders(isGenuine ? 204 : 401, -1);
    } catch (GeneralSecurityException error) {
      throw new IOException(error);
    }
  }

  public static void main(String[] arguments) throws IOException {
    if (!System.getenv().getOrDefault("SECRET", "").startsWith("whsec_"))
      throw new IllegalStateException("the endpoint's signing secret is missing");
    int port = Integer.parseInt(System.getenv().getOrDefault("PORT", "9000"));
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
    server.createContext("/", Receiver::receive);
    server.setExecutor(Executors.newFixedThreadPool(8));
    server.start();
  }
}
