/** One picture as a browser encodes it, and how long it is shown. */
export interface Frame {
  /** A WebP file of one picture. */
  readonly picture: Uint8Array;
  readonly milliseconds: number;
}

/** One WebP that shows pictures of the same size one after the other, again and again (WebP Container Specification). */
export function animatedWebp(
  frames: readonly Frame[],
  size: { readonly width: number; readonly height: number },
): Buffer {
  const [width, height] = [uint(size.width - 1, 3), uint(size.height - 1, 3)];
  const isAnimated = 0x02;
  const isWholeFrame = 0x02; // replaces what was there instead of being blended into it
  const body = Buffer.concat([
    Buffer.from("WEBP"),
    chunk("VP8X", Buffer.concat([uint(isAnimated, 4), width, height])),
    chunk("ANIM", Buffer.concat([uint(0, 4), uint(0, 2)])),
    ...frames.map(({ picture, milliseconds }) => {
      const head = [uint(0, 6), width, height, uint(milliseconds, 3), uint(isWholeFrame, 1)];
      return chunk("ANMF", Buffer.concat([...head, ...pixelsOf(Buffer.from(picture))]));
    }),
  ]);
  return chunk("RIFF", body);
}

/** The chunks of a file that hold its picture, without those around it. */
function pixelsOf(file: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 12; at < file.length; ) {
    const name = file.toString("latin1", at, at + 4);
    const length = file.readUInt32LE(at + 4);
    const end = at + 8 + length + (length % 2);
    if (name === "VP8 " || name === "VP8L" || name === "ALPH") found.push(file.subarray(at, end));
    at = end;
  }
  if (found.length === 0) throw new Error("the picture is no WebP");
  return found;
}

function chunk(name: string, content: Buffer): Buffer {
  const padding = Buffer.alloc(content.length % 2);
  return Buffer.concat([Buffer.from(name), uint(content.length, 4), content, padding]);
}

function uint(value: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntLE(value, 0, Math.min(bytes, 6));
  return buffer;
}
