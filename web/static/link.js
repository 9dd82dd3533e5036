// A link holds the state of the page in its fragment, deflated, in base64 for URLs. Browsers do not send the fragment.

async function through(stream, bytes) {
  const answer = new Response(new Blob([bytes]).stream().pipeThrough(stream));
  return new Uint8Array(await answer.arrayBuffer());
}

export async function toLink(state) {
  const packed = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(JSON.stringify(state)));
  let text = "";
  for (let i = 0; i < packed.length; i += 4096) text += String.fromCharCode(...packed.subarray(i, i + 4096));
  return "#v1." + btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

// fromLink gives the state, or null if the fragment is none of ours or is damaged.
export async function fromLink(hash) {
  if (!hash.startsWith("#v1.")) return null;
  try {
    const text = atob(hash.slice(4).replaceAll("-", "+").replaceAll("_", "/"));
    const packed = Uint8Array.from(text, (c) => c.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(await through(new DecompressionStream("deflate-raw"), packed)));
  } catch {
    return null;
  }
}
