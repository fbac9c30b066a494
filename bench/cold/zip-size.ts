import { deflateRawSync } from 'node:zlib'

/** Local header, central directory entry and end record of a zip with one file, without its name (PKWARE APPNOTE 4.3). */
const zipOverheadBytes = 30 + 46 + 22

/** How large a zip with this one file is, at the level that packagers use. */
export const zipBytes = (name: string, content: Uint8Array): number =>
  deflateRawSync(content, { level: 9 }).length + zipOverheadBytes + 2 * Buffer.byteLength(name)
