export interface Socket {
  readonly closed: boolean;
  readonly bufferedBytes: number;
  send(text: string): void;
  close(code: number, reason?: string): void;
  terminate(): void;
  onText(handler: (text: string) => void): void;
  onBinary(handler: () => void): void;
  onClose(handler: (code: number, reason: string) => void): void;
}
