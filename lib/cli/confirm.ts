import { RelayError } from '../errors.ts'
import { CommandFailed, type Terminal } from './terminal.ts'

/**
 * Lets somebody type the relay's name before something that cannot be taken back; `--yes` has said so already.
 * @throws RelayError CONFIG_INVALID when nobody can be asked, CommandFailed when the answer is another one
 */
export async function confirm(what: string, relay: string, yes: boolean, terminal: Terminal): Promise<void> {
  if (yes) return
  if (!terminal.ask) throw new RelayError('CONFIG_INVALID', `${what}: say --yes, since nobody can be asked here`)
  const answer = await terminal.ask(`${what}. Type the relay's name to go on: `)
  if (answer.trim() === relay) return
  terminal.err('fencepost: nothing was changed')
  throw new CommandFailed()
}
