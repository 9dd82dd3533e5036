// Asks the server how a text reads. The answer comes as lines of JSON; each line is handed on as it comes, with a pause
// between lines, so that the page stays smooth.

async function json(path) {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
}

export const loadFormats = () => json("api/formats");
export const loadSamples = () => json("api/samples");

async function post(path, question, signal) {
  const answer = await fetch(path, { method: "POST", signal, headers: { "Content-Type": "application/json" }, body: JSON.stringify(question) });
  if (answer.ok) return answer;
  const body = await answer.json().catch(() => ({}));
  throw new Error(body.error ?? `the server answered ${answer.status}`);
}

// constraint gives the text of a constraint, and notes on it.
export const constraint = async (question) => (await post("api/constraint", question)).json();

// tokens gives where the tokens of a text end, each with its id.
export const tokens = async (text) => (await (await post("api/tokens", { text })).json()).tokens;

// pause lets the browser draw, and take input, before the next piece of work.
export const pause = () => new Promise((done) => {
  const channel = new MessageChannel();
  channel.port1.onmessage = done;
  channel.port2.postMessage(null);
});

export async function* read(question, signal) {
  const answer = await post("api/read", question, signal);
  const lines = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await lines.read();
    if (done) break;
    rest += value;
    let end;
    while ((end = rest.indexOf("\n")) >= 0) {
      const line = rest.slice(0, end);
      rest = rest.slice(end + 1);
      yield JSON.parse(line);
      await pause();
    }
  }
}
