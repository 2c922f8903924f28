# bench.mk: the benchmarks of the solutions. Included by the Makefile, and not handed out: bench/
# holds kernels like those of the solutions.
#
#   LADDER=matmul SIZES="128 256"  for make bench: the matrix products alone, in these sizes
#   LADDER=mnist SIZES="6000 512"  an epoch of so many images and a product, from Python to one kernel
#   LADDER=layer           a layer of a million weights: CPU, untiled, tiled, registers, 3xTF32, persistent
#   make bench-mnist: an epoch of 501, split by kernel, if PyTorch sees a GPU
#   LADDER=elementwise     204's functions and relu_backward compared with a loop on the CPU
#   LADDER=memory          memory of a product, attention, experts and a network, counted; experts in use
#   LADDER=gpt2 SIZES=tiny a training step of GPT-2 124M; tiny: of a network that softgpu can train

#group See and measure

.PHONY: validate $(BUILD)/bench_validate $(BUILD)/bench_gpt2 $(BUILD)/bench_stages $(BUILD)/bench_layer $(BUILD)/bench_memory bench-matmul bench-stages bench-launch bench-layers bench-resnet18 bench-gpt2 bench-allreduce bench-layer bench-elementwise bench-memory bench-mnist

BENCH = $${OUTPUT:-results}
bench: ## measure matrix products, launches, ResNet-18 and GPT-2, and cuBLAS and PyTorch, as TSV in OUTPUT (default: results)
	$(if $(filter-out matmul mnist layer elementwise memory gpt2,$(LADDER)),$(error LADDER is matmul, mnist, layer, elementwise, memory, gpt2, or nothing))
	$(if $(filter-out matmul,$(LADDER)),,$(MAKE) bench-matmul)
	$(if $(filter-out mnist,$(LADDER)),,$(MAKE) bench-stages $(if $(LADDER),,SIZES=))
	$(if $(filter-out layer,$(LADDER)),,$(MAKE) bench-layer $(if $(LADDER),,SIZES=))
	$(if $(filter-out elementwise,$(LADDER)),,$(MAKE) bench-elementwise)
	$(if $(filter-out memory,$(LADDER)),,$(MAKE) bench-memory)
	$(if $(filter-out gpt2,$(LADDER)),,$(MAKE) bench-gpt2 $(if $(LADDER),,SIZES=$(if $(filter cuda,$(BACKEND)),,tiny)))
	$(if $(LADDER),,$(MAKE) bench-launch)
	$(if $(LADDER),,$(MAKE) bench-allreduce)
	$(if $(LADDER),,$(MAKE) bench-resnet18)

bench-resnet18:
	$(MAKE) resnet18 SUBMISSION=solutions
	bench/resnet18.sh "$(BENCH)"
	$(if $(filter cuda,$(BACKEND)),$(MAKE) bench-layers BATCHES="--rule 1 8 64")

RUNGS_C   = $(wildcard solutions/phase1_cpu/*_matmul_*/*.c)
LADDER_C  = bench/matmul.c grader/course/tensor_cores.c grader/exercises/106_matmul_cpu_vectorized/baseline.c \
            $(RUNGS_C) solutions/phase1_cpu/108_gemm_cpu/108_gemm_cpu.c
LADDER_CU = bench/matmul_gpu.cu grader/exercises/206_matmul_naive/baseline.cu \
            $(filter-out %/4f_matmul_8bit.cu,$(wildcard solutions/phase?_*/*_matmul_*/*.cu)) # 4f: not a rung, and calls 413
LADDER_FLAGS = -O3 -Igrader -Iemulator -Icommon $(PHASES:%=-I%) -L"$(BUILD)" -lcourse -lm

bench-matmul: all
	mkdir -p "$(BENCH)"
	blas=$$(tools/setup.sh --bench) && $(if $(filter cuda,$(BACKEND)), \
	    $(CUDA_CC) -Xcompiler -march=native -DWITH_GPU $(LADDER_C) $(LADDER_CU) $(LADDER_FLAGS) -Xlinker -rpath='$$ORIGIN' -lcublas, \
	    $(CC) -march=native -Wall -Wextra $(LADDER_C) $(LADDER_FLAGS) -Wl$(comma)-rpath='$$ORIGIN' -pthread) \
	    $$blas -o "$(BUILD)/bench_matmul"
	COURSE_COMMIT=$${COURSE_COMMIT:-$$(git rev-parse --short=12 HEAD)} \
	    COURSE_CPU=$$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1) \
	    "$(BUILD)/bench_matmul" $${SIZES:-128 256 512 1024 2048 4096 8192} >"$(BENCH)/matmul.tsv.new"
	mv "$(BENCH)/matmul.tsv.new" "$(BENCH)/matmul.tsv"
	cat "$(BENCH)/matmul.tsv"
	if command -v gnuplot >/dev/null; then gnuplot -e "folder='$(BENCH)'" bench/matmul.gp; fi

# An epoch and a product, stage by stage, with every function from the exercise that has it.
STAGES     = 103 104 106 107 109 111 112 206 208 209 211 212 301 302 303 305 314 404 501 502
STAGES_SRC = $(foreach e,$(STAGES),$(wildcard solutions/phase?_*/$(e)_*/*.c solutions/phase?_*/$(e)_*/*.cu))

bench-stages: all
	mkdir -p "$(BENCH)"
	tools/setup.sh --bench >/dev/null
	$(MAKE) cuda_nn SUBMISSION=solutions
	$(MAKE) "$(BUILD)/bench_stages"
	COURSE_COMMIT=$${COURSE_COMMIT:-$$(git rev-parse --short=12 HEAD)} \
	    COURSE_CPU=$$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1) \
	    "$(BUILD)/bench_stages" $$SIZES >"$(BENCH)/stages.tsv.new"
	mv "$(BENCH)/stages.tsv.new" "$(BENCH)/stages.tsv"
	cat "$(BENCH)/stages.tsv"

# Solutions are compiled once for all programs (programs/programs.mk); what differs from one to the next is not kept.
IN_PROGRAMS = $(1:%=$(BUILD)/program/$(BACKEND)/%.o)
$(BUILD)/bench_stages: $(call IN_PROGRAMS,$(STAGES_SRC))
	$(CUDA_CC) -Xcompiler -march=native bench/stages.c bench/stages_gpu.cu $^ $(CUDA_CC_FLAGS) -lm -o $@

# One linear layer by every exercise that has it, and by 303's untiled yardstick.
LAYER_SRC = $(foreach e,106 107 108 111 209 212 214 302 303 401 407 4g,$(wildcard solutions/phase?_*/$(e)_*/*.c solutions/phase?_*/$(e)_*/*.cu)) \
            grader/exercises/303_linear/baseline.cu
LAYER     = bench/layer.cu

bench-layer: all
	mkdir -p "$(BENCH)"
	$(MAKE) "$(BUILD)/bench_layer"
	COURSE_COMMIT=$${COURSE_COMMIT:-$$(git rev-parse --short=12 HEAD)} \
	    COURSE_CPU=$$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1) \
	    "$(BUILD)/bench_layer" $$SIZES >"$(BENCH)/layer.tsv.new"
	mv "$(BENCH)/layer.tsv.new" "$(BENCH)/layer.tsv"
	cat "$(BENCH)/layer.tsv"

$(BUILD)/bench_layer: $(call IN_PROGRAMS,$(LAYER_SRC))
	$(CUDA_CC) -Xcompiler -march=native $(LAYER) $^ $(CUDA_CC_FLAGS) -lm -o $@

bench-elementwise: all
	mkdir -p "$(BENCH)"
	$(CUDA_CC) -Xcompiler -march=native bench/elementwise.cu $(wildcard solutions/*/204_*/*.cu solutions/*/301_*/*.cu) $(CUDA_CC_FLAGS) -lm -o "$(BUILD)/bench_elementwise"
	COURSE_COMMIT=$${COURSE_COMMIT:-$$(git rev-parse --short=12 HEAD)} \
	    COURSE_CPU=$$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1) \
	    "$(BUILD)/bench_elementwise" >"$(BENCH)/elementwise.tsv.new"
	mv "$(BENCH)/elementwise.tsv.new" "$(BENCH)/elementwise.tsv"
	cat "$(BENCH)/elementwise.tsv"

bench-memory: all
	mkdir -p "$(BENCH)"
	$(MAKE) "$(BUILD)/bench_memory"
	COURSE_COMMIT=$${COURSE_COMMIT:-$$(git rev-parse --short=12 HEAD)} "$(BUILD)/bench_memory" >"$(BENCH)/memory.tsv.new"
	mv "$(BENCH)/memory.tsv.new" "$(BENCH)/memory.tsv"
	cat "$(BENCH)/memory.tsv"

$(BUILD)/bench_memory: $(call IN_PROGRAMS,$(foreach e,203 212 214 301 302 303 304 306 307 309 310 313 409 411 412 413 505 5c,$(wildcard solutions/phase?_*/$(e)_*/*.cu)))
	$(CUDA_CC) bench/memory.cu $^ $(CUDA_CC_FLAGS) -lm -o $@

# An epoch of 501 by kernels; it takes a GPU and a python3 with PyTorch, whose profiler sees them.
MNIST = 208 212 301 302 303 305 314 404 501
bench-mnist: all
	mkdir -p "$(BENCH)"
	$(CUDA_CC) -shared -Xcompiler -fPIC $(foreach e,$(MNIST),$(wildcard solutions/phase?_*/$(e)_*/*.cu)) $(CUDA_CC_FLAGS) -o "$(BUILD)/libbench_mnist.so"
	COURSE_COMMIT=$${COURSE_COMMIT:-$$(git rev-parse --short=12 HEAD)} \
	    "$${PYTHON:-python3}" bench/mnist_profile.py "$(BUILD)/libbench_mnist.so" >"$(BENCH)/mnist_profile.tsv.new"
	mv "$(BENCH)/mnist_profile.tsv.new" "$(BENCH)/mnist_profile.tsv"
	cat "$(BENCH)/mnist_profile.tsv"

# Objects of their own, so that a second time only what has changed is compiled.
VALIDATE_SRC = $(foreach e,206 212 214 2a 302 303 306 307 313 402 404 405 409 410 412 413 4b 4c 4h,$(wildcard solutions/phase?_*/$(e)_*/*.cu)) \
               $(foreach e,303 304 311 404 410 412 4a,$(wildcard grader/exercises/$(e)_*/baseline.cu))
VALIDATE_CU  = $(VALIDATE_SRC)
VALIDATE_O   = $(patsubst %,$(BUILD)/program/$(BACKEND)/%.o,bench/validate.c bench/validate_operations.c $(VALIDATE_CU)) \
               $(call objects,grader,grader/course/tensor_cores.c)

validate: all ## measure each operation naive, optimised and by a library: time, bytes, share of the roof, whether it is right; in OUTPUT
	$(MAKE) $(BUILD)/bench_validate
	mkdir -p "$(BENCH)"
	COURSE_COMMIT=$${COURSE_COMMIT:-$$(git rev-parse --short=12 HEAD)} \
	    "$(BUILD)/bench_validate" >"$(BENCH)/validate.tsv"; right=$$?; cat "$(BENCH)/validate.tsv"; exit $$right

$(BUILD)/bench_validate: $(VALIDATE_O)
	echo 'link $@'
	$(CUDA_CC) $^ $(CUDA_CC_FLAGS) -lcublas -lm -o $@

# Training steps of GPT-2, by the exercises that 508 and 510 stand on; but bench/gpt2_layers.cu for 303,
# bench/gpt2_attention.cu for 313, and bench/gpt2_halves.cu around 510. The CPU's network stands on phase 1,
# and has the rate of 509.
GPT2     = 106 107 108 109 111 208 209 301 302 304 305 311 312 314 3a 401 4c 4d 4g 4i 4j 508 509
HALVES   = bench/gpt2_halves.cu
GPT2_SRC = bench/gpt2.c bench/gpt2_layers.cu bench/gpt2_attention.cu $(HALVES) programs/gpt/cpu_network.c \
           $(foreach e,$(GPT2),$(wildcard solutions/phase?_*/$(e)_*/*.c solutions/phase?_*/$(e)_*/*.cu))

bench-gpt2: all
	$(MAKE) "$(BUILD)/bench_gpt2"
	mkdir -p "$(BENCH)"
	COURSE_COMMIT=$${COURSE_COMMIT:-$$(git rev-parse --short=12 HEAD)} "$(BUILD)/bench_gpt2" $$SIZES >"$(BENCH)/gpt2.tsv.new"
	for python in $${PYTHON:-python3 /usr/bin/python3}; do \
	    if "$$python" -c 'from torch.nn.functional import scaled_dot_product_attention' 2>/dev/null; then "$$python" bench/gpt2_torch.py $$SIZES >>"$(BENCH)/gpt2.tsv.new"; exit; fi; \
	done; echo '# PyTorch: not measured here, no python3 has 2.0 or newer' >>"$(BENCH)/gpt2.tsv.new"
	mv "$(BENCH)/gpt2.tsv.new" "$(BENCH)/gpt2.tsv"
	cat "$(BENCH)/gpt2.tsv"

$(BUILD)/bench_gpt2: $(GPT2_SRC:%=$(BUILD)/program/$(BACKEND)/%.o)
	echo 'link $@'
	$(CUDA_CC) $^ $(CUDA_CC_FLAGS) -lm -o $@

bench-launch: all
	mkdir -p "$(BENCH)"
	$(CUDA_CC) bench/launch.cu solutions/phase4_optimization/407_graphs/407_graphs.cu $(CUDA_CC_FLAGS) -o "$(BUILD)/bench_launch"
	COURSE_COMMIT=$${COURSE_COMMIT:-$$(git rev-parse --short=12 HEAD)} "$(BUILD)/bench_launch" $$ROUNDS \
	    >"$(BENCH)/launch.tsv"
	cat "$(BENCH)/launch.tsv"

# On a machine with several GPUs; NCCL=PATH names libnccl.so.2 where the loader does not find it.
bench-allreduce: all
	mkdir -p "$(BENCH)"
	$(CUDA_CC) bench/allreduce.cu $(wildcard solutions/phase4_optimization/4*_allreduce_*/*.cu) $(CUDA_CC_FLAGS) -ldl \
	    -o "$(BUILD)/bench_allreduce"
	COURSE_COMMIT=$${COURSE_COMMIT:-$$(git rev-parse --short=12 HEAD)} "$(BUILD)/bench_allreduce" \
	    $${SIZES:-$(if $(filter cuda,$(BACKEND)),,1024 65536)} >"$(BENCH)/allreduce.tsv"
	cat "$(BENCH)/allreduce.tsv"

bench-layers: all
	mkdir -p "$(BENCH)"
	$(CUDA_CC) bench/resnet18_layers.cu -Isolutions/phase5_full_network/507_resnet18_optimized $(CUDA_CC_FLAGS) -o "$(BUILD)/bench_layers"
	COURSE_COMMIT=$${COURSE_COMMIT:-$$(git rev-parse --short=12 HEAD)} "$(BUILD)/bench_layers" $$BATCHES \
	    >"$(BENCH)/resnet18_layers.tsv"
	grep '^#' "$(BENCH)/resnet18_layers.tsv"
