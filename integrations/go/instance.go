package bloomset

import (
	"context"
	_ "embed"
	"encoding/binary"
	"fmt"
	"strings"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// The library, without imports. Each filter has an instance of its own.
//
//go:embed bloomset.wasm
var module []byte

const (
	batchKeys  = 4096
	batchBytes = 1 << 17
)

// The module is compiled to machine code on first use.
var compiled = sync.OnceValues(func() (*program, error) {
	ctx := context.Background()
	runtime := wazero.NewRuntime(ctx)
	code, err := runtime.CompileModule(ctx, module)
	if err != nil {
		return nil, fmt.Errorf("bloomset: the module cannot be compiled: %w", err)
	}
	return &program{runtime, code}, nil
})

type program struct {
	runtime wazero.Runtime
	code    wazero.CompiledModule
}

// An instance of the module, with memory for the arguments of batches. Not safe for concurrent use.
type instance struct {
	module                    api.Module
	memory                    api.Memory
	functions                 map[string]api.Function
	mayContain                api.Function
	keysAt, endsAt, answersAt uint32
	keys, ends                []byte // of the batch that is being collected
	ended                     error
	stack                     [2]uint64
}

func newInstance() (*instance, error) {
	program, err := compiled()
	if err != nil {
		return nil, err
	}
	// Without a name, any number of instances may exist.
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize")
	module, err := program.runtime.InstantiateModule(context.Background(), program.code, config)
	if err != nil {
		return nil, &Error{Code: OutOfMemory, Message: "there is not enough memory for another filter: " + err.Error()}
	}
	in := &instance{module: module, memory: module.Memory(), functions: map[string]api.Function{},
		mayContain: module.ExportedFunction("bloomset_may_contain")}
	for _, part := range []struct {
		at   *uint32
		size int
	}{{&in.keysAt, batchBytes}, {&in.endsAt, 4 * batchKeys}, {&in.answersAt, 8 * batchKeys}} {
		if *part.at, err = in.alloc(part.size); err != nil {
			in.close()
			return nil, err
		}
	}
	return in, nil
}

func (in *instance) close() {
	if in.ended == nil {
		in.ended = &Error{Code: InvalidArgument, Message: "the filter is closed; open it again"}
		in.module.Close(context.Background())
	}
}

// Calls a function. A trap ends the instance: every later call fails.
func (in *instance) call(name string, values ...uint64) (uint64, error) {
	if in.ended != nil {
		return 0, in.ended
	}
	function := in.functions[name]
	if function == nil {
		function = in.module.ExportedFunction(name)
		in.functions[name] = function
	}
	results, err := function.Call(context.Background(), values...)
	if err != nil {
		reason := &Error{Code: OutOfMemory, Message: "there is not enough memory for this filter; use a smaller one, or the command line"}
		full, asked := in.module.ExportedFunction("bloomset_is_out_of_memory").Call(context.Background())
		if asked != nil || full[0] == 0 {
			reason.Message = "the module ended: " + strings.SplitN(err.Error(), "\n", 2)[0] + "; open the filter again"
		}
		in.ended = reason
		in.module.Close(context.Background())
		return 0, reason
	}
	if len(results) == 0 {
		return 0, nil
	}
	return results[0], nil
}

// A call with a status. The source's name replaces "the bytes" in the sentence of a failure.
func (in *instance) run(source, name string, values ...uint64) error {
	status, err := in.call(name, values...)
	if err != nil || status == 0 {
		return err
	}
	sentence, err := in.answer()
	if err != nil {
		return err
	}
	message := string(sentence)
	if rest, found := strings.CutPrefix(message, "the bytes: "); found {
		message = source + ": " + rest
	}
	return &Error{Code: Code(status), Message: message}
}

// A copy of the last answer.
func (in *instance) answer() ([]byte, error) {
	at, err := in.call("bloomset_answer")
	if err != nil {
		return nil, err
	}
	size, err := in.call("bloomset_answer_size")
	if err != nil {
		return nil, err
	}
	view, _ := in.memory.Read(uint32(at), uint32(size))
	return append([]byte(nil), view...), nil
}

func (in *instance) alloc(size int) (uint32, error) {
	if uint64(size) > 0xffff0000 {
		return 0, &Error{Code: OutOfMemory, Message: "a filter of 4 GiB or more is too large for this package; use the command line"}
	}
	at, err := in.call("bloomset_alloc", uint64(size))
	if err == nil && at == 0 {
		err = &Error{Code: OutOfMemory, Message: "there is not enough memory for this filter; use a smaller one, or the command line"}
	}
	return uint32(at), err
}

// Calls use with the address of bytes that last as long as the call; 0 for none.
func (in *instance) lend(bytes []byte, use func(at uint64) error) error {
	if bytes == nil {
		return use(0)
	}
	at, err := in.alloc(len(bytes))
	if err != nil {
		return err
	}
	in.memory.Write(at, bytes)
	err = use(uint64(at))
	if in.ended == nil {
		in.call("bloomset_free", uint64(at))
	}
	return err
}

// Passes strings on in batches: use(bytes, ends, count) with addresses.
func (in *instance) batches(count int, text func(i int) string, use func(first int, values []uint64) error) error {
	in.keys, in.ends = in.keys[:0], in.ends[:0]
	first := 0
	pass := func(end int) error {
		if first == end {
			return nil
		}
		in.memory.Write(in.keysAt, in.keys)
		in.memory.Write(in.endsAt, in.ends)
		err := use(first, []uint64{uint64(in.keysAt), uint64(in.endsAt), uint64(end - first)})
		in.keys, in.ends, first = in.keys[:0], in.ends[:0], end
		return err
	}
	for i := 0; i < count; i++ {
		key := text(i)
		if i-first == batchKeys || len(in.keys)+len(key) > batchBytes {
			if err := pass(i); err != nil {
				return err
			}
		}
		if len(key) > batchBytes { // longer than a whole batch
			err := in.lend([]byte(key), func(at uint64) error {
				in.memory.WriteUint32Le(in.endsAt, uint32(len(key)))
				return use(i, []uint64{at, uint64(in.endsAt), 1})
			})
			if err != nil {
				return err
			}
			first = i + 1
			continue
		}
		in.keys = append(in.keys, key...)
		in.ends = binary.LittleEndian.AppendUint32(in.ends, uint32(len(in.keys)))
	}
	return pass(count)
}

// Passes names and values on in one call.
func (in *instance) withTexts(texts []string, use func(values []uint64) error) error {
	var bytes, ends []byte
	for _, text := range texts {
		bytes = append(bytes, text...)
		ends = binary.LittleEndian.AppendUint32(ends, uint32(len(bytes)))
	}
	return in.lend(append([]byte{}, bytes...), func(at uint64) error {
		return in.lend(append([]byte{}, ends...), func(to uint64) error {
			return use([]uint64{at, to, uint64(len(texts))})
		})
	})
}

func (in *instance) contains(key []byte) (bool, error) {
	if in.ended != nil {
		return false, in.ended
	}
	if len(key) > batchBytes {
		var answer uint64
		err := in.lend(key, func(at uint64) (err error) {
			answer, err = in.call("bloomset_may_contain", at, uint64(len(key)))
			return err
		})
		return answer != 0, err
	}
	in.memory.Write(in.keysAt, key)
	in.stack = [2]uint64{uint64(in.keysAt), uint64(len(key))}
	if err := in.mayContain.CallWithStack(context.Background(), in.stack[:]); err != nil {
		return false, err
	}
	return in.stack[0] != 0, nil
}
