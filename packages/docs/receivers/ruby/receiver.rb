# Start: SECRET=whsec_… ruby receiver.rb (needs the gem webrick)
require "json"
require "openssl"
require "webrick"

# Returns the webhook, or nil if the request is not genuine. In that case, respond with 401.
# The same webhook can arrive twice. Deduplicate by its "id" in the body: headers are not signed.
# raw: the bytes of the body before any parsing.
def read_webhook(raw, timestamp, signature, secret)
  raise "the endpoint's signing secret is missing" unless secret.start_with?("whsec_")
  return nil unless timestamp.match?(/\A[0-9]{1,12}\z/n) && signature.match?(/\Av1=[0-9a-f]{64}\z/n)
  mac = OpenSSL::HMAC.hexdigest("SHA256", secret, "#{timestamp}.".b + raw.b)
  is_genuine = OpenSSL.fixed_length_secure_compare("v1=#{mac}", signature)
  is_fresh = (Time.now.to_i - timestamp.to_i).abs <= 300
  is_genuine && is_fresh ? JSON.parse(raw) : nil
end

class Receiver < WEBrick::HTTPServlet::AbstractServlet
  # In production: a table with a unique key, written in one transaction with your work.
  SEEN_IDS = {}
  LOCK = Mutex.new

  def do_POST(request, response)
    timestamp = request["Service-Timestamp"].to_s.b
    signature = request["Service-Signature"].to_s.b
    webhook = read_webhook(request.body.to_s, timestamp, signature, ENV.fetch("SECRET"))
    LOCK.synchronize do
      if webhook && !SEEN_IDS[webhook["id"]]
        SEEN_IDS[webhook["id"]] = true
        puts webhook["type"]
      end
    end
    response.status = webhook ? 204 : 401
  end
end

$stdout.sync = true
server = WEBrick::HTTPServer.new(
  BindAddress: "127.0.0.1", Port: ENV.fetch("PORT", "9000").to_i,
  AccessLog: [], Logger: WEBrick::Log.new($stderr, WEBrick::Log::WARN)
)
server.mount("/", Receiver)
trap("TERM") { server.shutdown }
server.start
